// A control that nobody caught must fail, and one that the machine spoiled is played again.

import { expect } from 'chai';
import { mustBeCaught } from './caught.ts';

const fails = (message: string) => () => Promise.reject(new Error(message));

describe('a control', () => {
  it('is caught in the round in which a check says what is wrong', async () => {
    const played: number[] = [];
    await mustBeCaught(/was due/, 5, async (seed) => {
      played.push(seed);
      if (seed === 2) throw new Error('L3 of T2: CANCELLED was due');
    });
    expect(played).to.deep.equal([1, 2]);
  });

  it('is not caught by another failure, nor by none, and all of them are told', async () => {
    const rounds = [fails('the port is taken'), () => Promise.resolve()];
    const play = (seed: number): Promise<unknown> => rounds[seed - 1]?.() as Promise<unknown>;
    let said = '';
    await mustBeCaught(/was due/, 2, play).catch(({ message }) => {
      said = message;
    });
    expect(said).to.include('not caught in 2 rounds');
    expect(said).to.include('seed 1: the port is taken').and.include('seed 2: nothing was found');
  });

  it('goes on after a round that the machine spoiled', async () => {
    const rounds = [fails('no lease was held'), fails('CANCELLED was due')];
    const play = (seed: number): Promise<unknown> => rounds[seed - 1]?.() as Promise<unknown>;
    await mustBeCaught(/was due/, 2, play);
  });
});
