// A threaded handler that uses all of its context.

import { type Handler, PermanentFailure, TaskAborted } from '../../../src/index.ts';

const use: Handler = async (task, context) => {
  switch (task.text()) {
    case 'mine':
      return { isMine: await context.stillMine(), token: context.fencingToken };
    case 'permanent':
      throw new PermanentFailure('no attempt can help');
    case 'wait': {
      const { signal } = context;
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      if (signal.reason instanceof TaskAborted) throw new Error(`saw ${signal.reason.code}`);
      throw new Error('the reason has no type');
    }
    default:
      throw new Error('what a reason');
  }
};
export default use;
