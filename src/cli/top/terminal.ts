// Owns the terminal while `top` has it: the other screen, the keys one by one, and giving all of it
// back, whatever ends the process. Only kill -9 leaves the terminal as it is (`reset` mends it).

import { emitKeypressEvents, type Interface, type Key } from 'node:readline';
import type { Io } from '../command.ts';
import type { Size } from './screen.ts';

const ENTER = '\u001b[?1049h\u001b[?25l';
const LEAVE = '\u001b[?25h\u001b[?1049l';
const HOME = '\u001b[H';
/** Before the text of a line: behind a line of full width it would erase the last character. */
const ERASE_LINE = '\u001b[2K';
const ERASE_BELOW = '\u001b[J';
/** A key that sends several bytes sends them at once; a lone escape is the key of that name. */
const ESCAPE_MS = 50;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

export class Terminal {
  readonly #io: Io;
  #isEntered = false;

  /**
   * @param onKey gets the name of a key, `q`, `up`, `ctrl-c`; @param onResize the new size holds
   */
  constructor(io: Io, onKey: (name: string) => void, onResize: () => void) {
    const { stdin, stdout } = io;
    this.#io = io;
    // An error that nobody catches is told on the ordinary screen, where it can be read.
    process.once('exit', this.leave).once('uncaughtExceptionMonitor', this.leave);
    for (const signal of SIGNALS) process.once(signal, this.#onSignal);
    stdout.write(ENTER);
    stdout.on('resize', onResize);
    this.#isEntered = true;
    if (!stdin.isTTY) return;
    emitKeypressEvents(stdin, { escapeCodeTimeout: ESCAPE_MS } as unknown as Interface);
    stdin.setRawMode(true);
    stdin.on('keypress', (text: string | undefined, key: Key) => onKey(nameOf(text, key)));
    stdin.once('end', () => onKey('ctrl-c'));
    stdin.resume();
  }

  get size(): Size {
    const { columns, rows } = this.#io.stdout;
    return { columns: columns || 80, rows: rows || 24 };
  }

  draw(lines: readonly string[]): void {
    if (!this.#isEntered) return;
    const text = lines.map((line) => ERASE_LINE + line).join('\r\n');
    this.#io.stdout.write(HOME + text + ERASE_BELOW);
  }

  readonly leave = (): void => {
    if (!this.#isEntered) return;
    this.#isEntered = false;
    const { stdin, stdout } = this.#io;
    if (stdin.isTTY) stdin.setRawMode(false);
    stdin.pause();
    stdout.write(LEAVE);
    process.off('exit', this.leave).off('uncaughtExceptionMonitor', this.leave);
    for (const signal of SIGNALS) process.off(signal, this.#onSignal);
  };

  /** The signal ends the process as it would have without us, on a terminal that was given back. */
  readonly #onSignal = (signal: NodeJS.Signals): void => {
    this.leave();
    process.kill(process.pid, signal);
  };
}

function nameOf(text: string | undefined, { name, ctrl, sequence }: Key): string {
  if (ctrl === true && name === 'c') return 'ctrl-c';
  return name ?? text ?? sequence ?? '';
}
