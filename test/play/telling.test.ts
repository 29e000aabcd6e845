// The telling of a story: in the order in which it was played, held up by questions, never holding
// up the story.

import { expect } from 'chai';
import { type Learner, Telling } from '../../src/play/telling.ts';

interface SlowLearner extends Learner {
  readonly heard: string[];
  /** Ends the thinking about the question that was asked last. */
  answer(): void;
}

function slowLearner(): SlowLearner {
  const heard: string[] = [];
  let answer = (): void => {};
  return {
    heard,
    read: (line) => void heard.push(line),
    think: (question) =>
      new Promise((resolve) => {
        heard.push(`? ${question}`);
        answer = resolve;
      }),
    answer: () => answer(),
  };
}

/** Lets everything run that waits for nothing but its turn. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('the telling of a story', () => {
  it('never holds up the story, and stops at each question until it is answered', async () => {
    const telling = new Telling(String);
    let isOver = false;
    const play = async (): Promise<string> => {
      telling.line('w1 gets T2');
      await telling.guess('and now?');
      telling.line('the lease runs out');
      await telling.guess('and then?');
      telling.line('w2 gets T2');
      isOver = true;
      return 'played';
    };
    const learner = slowLearner();
    const told = telling.tell(play(), learner);
    await settle();
    expect(isOver).to.equal(true);
    expect(learner.heard).to.deep.equal(['w1 gets T2', '? and now?']);
    learner.answer();
    await settle();
    expect(learner.heard.slice(2)).to.deep.equal(['the lease runs out', '? and then?']);
    learner.answer();
    expect(await told).to.equal('played');
    expect(learner.heard.slice(4)).to.deep.equal(['w2 gets T2']);
  });

  it('tells at once what is played while nothing is asked', async () => {
    const telling = new Telling(String);
    let end = (): void => {};
    const played = new Promise<void>((resolve) => {
      end = resolve;
    });
    const learner = slowLearner();
    const told = telling.tell(played, learner);
    for (const line of ['one', 'two']) {
      telling.line(line);
      await settle();
      expect(learner.heard.at(-1)).to.equal(line);
    }
    end();
    await told;
  });

  it('tells what was played before the story broke off, and then why it did', async () => {
    const telling = new Telling(String);
    const play = async (): Promise<void> => {
      telling.line('w1 gets T2');
      await telling.guess('and now?');
      telling.line('the coordinator is gone');
      throw new Error('not ready after 30000 ms');
    };
    const learner = slowLearner();
    const told = telling.tell(play(), learner).catch(({ message }: Error) => message);
    await settle();
    learner.answer();
    expect(await told).to.equal('not ready after 30000 ms');
    expect(learner.heard.at(-1)).to.equal('the coordinator is gone');
  });
});
