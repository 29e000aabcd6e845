// Owns the planting of faults in the compiled program: a fault is text that stands otherwise. The
// text is looked for everywhere, so that a file may move and code may be indented anew without a
// proof noticing; but it must stand exactly once, else nothing is planted and the fault is named.

import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** The compiled program, this file's own root. */
export const BUILT = fileURLToPath(new URL('../../', import.meta.url));
/** The folders of it that are the product. */
export const PRODUCT = ['src', 'actors'] as const;

/** Text that stands exactly once in the program, and what stands there instead. */
export interface Replacement {
  readonly from: string;
  readonly to: string;
}

/** More text at the end of the one file in which `beside` stands. */
export interface Addition {
  readonly beside: string;
  readonly add: string | ((files: CompiledFiles) => string);
}

export type Patch = Replacement | Addition;

/** Text that is only in the file of this actor. */
export const ACTORS = {
  http: 'function httpIngress(',
  socket: 'function socketIngress(',
  reader: 'export default function reader(',
  timer: 'export default function timer(',
  coordinator: "watchLag('coordinator')",
} as const;

interface Found {
  readonly file: string;
  readonly start: number;
  readonly end: number;
}

/** Compiled files as text that can be changed before it is written somewhere. */
export class CompiledFiles {
  readonly #texts: Map<string, string>;

  /** @param texts by path below the root. */
  constructor(texts: ReadonlyMap<string, string>) {
    this.#texts = new Map(texts);
  }

  /** All files of these folders below the root of what was built. */
  static of(folders: readonly string[]): CompiledFiles {
    const paths = folders.flatMap((folder) =>
      fs
        .readdirSync(path.join(BUILT, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.js'))
        .map((name) => path.join(folder, name)),
    );
    return new CompiledFiles(new Map(paths.map((file) => [file, readBuilt(file)])));
  }

  /** These files, by their paths below the root of what was built, and all that they import. */
  static from(entries: readonly string[]): CompiledFiles {
    const texts = new Map<string, string>();
    const take = (file: string): void => {
      if (texts.has(file)) return;
      const text = readBuilt(file);
      texts.set(file, text);
      for (const [, name] of text.matchAll(/\b(?:from|import)\b\s*\(?\s*['"](\.[^'"]+)['"]/g)) {
        take(path.join(path.dirname(file), String(name)));
      }
    };
    for (const entry of entries) take(entry);
    return new CompiledFiles(texts);
  }

  text(file: string): string {
    const text = this.#texts.get(file);
    if (text === undefined) throw new Error(`there is no ${file}`);
    return text;
  }

  /** @returns the path of the one file in which this text stands. */
  fileOf(text: string): string {
    return this.#find(text).file;
  }

  /** @param folders where to look. @throws Error with the text that does not stand there once. */
  plant(patch: Patch, folders?: readonly string[]): void {
    if ('beside' in patch) {
      const { file } = this.#find(patch.beside, folders);
      const more = typeof patch.add === 'string' ? patch.add : patch.add(this);
      this.#texts.set(file, `${this.#texts.get(file)}\n${more}\n`);
    } else {
      const { file, start, end } = this.#find(patch.from, folders);
      const text = this.text(file);
      this.#texts.set(file, text.slice(0, start) + patch.to + text.slice(end));
    }
  }

  /** Writes all files below this directory. */
  write(directory: string): void {
    for (const [file, text] of this.#texts) {
      const target = path.join(directory, file);
      fs.mkdirSync(path.dirname(target), { recursive: true });
      fs.writeFileSync(target, text);
    }
  }

  #find(text: string, folders?: readonly string[]): Found {
    const pattern = patternOf(text);
    const found: Found[] = [];
    for (const [file, whole] of this.#texts) {
      if (folders?.every((folder) => !file.startsWith(`${folder}/`))) continue;
      for (const { index, 0: match } of whole.matchAll(pattern)) {
        found.push({ file, start: index, end: index + match.length });
      }
    }
    const [first] = found;
    if (first === undefined || found.length > 1) {
      const where = found.map(({ file }) => file).join(', ') || 'nowhere';
      throw new Error(`it must stand exactly once in the program, and stands ${where}: ${text}`);
    }
    return first;
  }
}

const readBuilt = (file: string): string => fs.readFileSync(path.join(BUILT, file), 'utf8');

/** The same words and signs in the same order, whatever white space is between them. */
function patternOf(text: string): RegExp {
  const parts = text.match(/\w+|[^\w\s]/g) ?? [];
  if (parts.length === 0) throw new Error('there is nothing to look for');
  const body = parts.map((part) => part.replace(/[^\w]/g, '\\$&')).join('\\s*');
  const before = /^\w/.test(body) ? '(?<!\\w)' : '';
  const after = /\w$/.test(body) ? '(?!\\w)' : '';
  return new RegExp(before + body + after, 'g');
}
