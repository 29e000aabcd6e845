// Shows that the picture is well-formed whatever users chose as names, and draws what is in the
// data.

import { expect } from 'chai';
import { explain } from '../../src/explain/explain-task.ts';
import { explanationSvg } from '../../src/explain/page-svg.ts';
import { Story } from '../core/story-builder.ts';
import { stories } from './explain-stories.ts';

/** Each tag that opens closes, in order, and no bare `&` is left: what an XML reader insists on. */
function wellFormed(svg: string): void {
  const open: string[] = [];
  for (const [, close, name, selfClosed] of svg.matchAll(/<(\/?)([a-z]+)[^>]*?(\/?)>/g)) {
    if (close === '/') expect(open.pop()).equal(name);
    else if (selfClosed === '') open.push(name ?? '');
  }
  expect(open).empty;
  expect(svg.replace(/&(amp|lt|gt|quot);/g, '')).not.include('&');
}

describe('the explanation as SVG', () => {
  for (const [name, story] of Object.entries(stories)) {
    it(`draws ${name}`, () => {
      const told = explain(story());
      const svg = explanationSvg(told);
      wellFormed(svg);
      expect(svg.match(/<g>/g) ?? []).length(told.attempts.length);
      const late = told.attempts.filter(({ report }) => report?.outcome === 'CANCELLED');
      expect(svg.match(/<circle/g) ?? []).length(late.length);
    });
  }

  it('escapes a worker id that would be markup', () => {
    const svg = explanationSvg(explain(new Story().grant(1, '</svg><script>&"\u0000').told(2)));
    wellFormed(svg);
    expect(svg).not.include('<script');
    expect(svg).not.include('\u0000');
  });

  it('draws the first and the last of very many attempts', () => {
    const story = new Story();
    for (let second = 0; second < 3_300; second += 11) story.grant(second, 'w').expire();
    const svg = explanationSvg(explain(story.told(4_000)));
    expect(svg.match(/<g>/g)).length(100);
    expect(svg).include('200 attempts in the middle are not drawn');
    const more = new Story();
    for (let second = 0; second < 1_111; second += 11) more.grant(second, 'w').expire();
    expect(explanationSvg(explain(more.told(4_000)))).include('1 attempt in the middle is not');
  });
});
