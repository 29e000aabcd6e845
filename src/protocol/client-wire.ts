// Owns the client's side of the mapping between code (camelCase, bytes) and wire (snake_case,
// text or base64). The coordinator's side is request-codec.ts and answer-text.ts.

import { isUtf8 } from 'node:buffer';
import { camelOf } from '../model/request-fields.ts';

type Wire = Record<string, unknown>;

/** `{[name]: text}` when the bytes are valid UTF-8, else `{[name]_base64: …}`. */
export function bytesField(name: 'payload' | 'result', bytes: Buffer): Wire {
  if (isUtf8(bytes)) return { [name]: bytes.toString('utf8') };
  return { [`${name}_base64`]: bytes.toString('base64') };
}

/** The bytes of a field that came as text or as base64; undefined: neither is there. */
export function readBytes(wire: Wire, name: 'payload' | 'result'): Buffer | undefined {
  const text = wire[name];
  if (typeof text === 'string') return Buffer.from(text, 'utf8');
  const base64 = wire[`${name}_base64`];
  return typeof base64 === 'string' ? Buffer.from(base64, 'base64') : undefined;
}

const snakeOf = (name: string): string => name.replace(/[A-Z]/g, (c) => `_${c.toLowerCase()}`);

/**
 * Renames the keys of an options object, and leaves out members that are undefined. Only the top
 * level is renamed: below it are contents, and maps whose keys are the user's own (metadata).
 */
export function toWire(options: object): Wire {
  const wire: Wire = {};
  for (const [name, value] of Object.entries(options)) {
    if (value !== undefined) wire[snakeOf(name)] = value;
  }
  return wire;
}

/** The reverse of toWire, for answers; `record: null` and the like stay. */
export function fromWire(wire: object): Wire {
  const options: Wire = {};
  for (const [name, value] of Object.entries(wire)) options[camelOf(name)] = value;
  return options;
}

/** fromWire with one level of nesting renamed too, for the field that is an object of ours. */
export function fromWireNested(wire: object, nested: string): Wire {
  const options = fromWire(wire);
  const inner = options[nested];
  if (typeof inner === 'object' && inner !== null) options[nested] = fromWire(inner);
  return options;
}
