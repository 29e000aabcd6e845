// A round counts only when the process heard both signals, and at once.

import { expect } from 'chai';
import { untilEchoed } from './echoes.ts';

describe('two signals', () => {
  it('are played again until both were heard at once', async () => {
    const heard = ['heard 1\n', 'heard 1\nheard 900.5\n', 'other\nheard 1.5\nheard 7\nheard it\n'];
    const rounds: number[] = [];
    const counted = await untilEchoed(async (round) => {
      rounds.push(round);
      return { said: heard[round - 1] ?? '', round };
    });
    expect([rounds, counted.round]).to.deep.equal([[1, 2, 3], 3]);
  });

  it('that never were fail the test with what was said', async () => {
    const said = 'heard 3\nheard 1000\n';
    const error = await untilEchoed(async () => ({ said })).catch(({ message }) => message);
    expect(error).to.include('no two signals were heard at once').and.include(said);
  });
});
