// Owns what every thread of a node may know of its cluster without asking: this node's role, the
// leader, and the other nodes. The supervisor writes the first view, and the coordinator's thread
// all later ones, as one JSON text into shared memory. A server without a cluster writes none.

import { type ClusterView, firstView } from '../../src/model/cluster-view.ts';
import { SharedText, sharedTextBytes } from './shared-text.ts';

const TEXT_MAX_BYTES = 16_384;
export const NOTE_BYTES = sharedTextBytes(TEXT_MAX_BYTES);

export class ClusterNote {
  readonly #text: SharedText;
  #read: { readonly version: number; readonly view: ClusterView | undefined } | undefined;

  /** @param offset a multiple of 4; NOTE_BYTES from there belong to the note. */
  constructor(shared: SharedArrayBuffer, offset: number) {
    this.#text = new SharedText(shared, offset, TEXT_MAX_BYTES);
  }

  /** The supervisor calls it before any other thread runs. */
  begin(own: Pick<ClusterView, 'cluster' | 'node' | 'url'>): void {
    this.write(firstView(own));
  }

  /** For one thread at a time: the supervisor's, and then the coordinator's. */
  write(view: ClusterView): void {
    const whole = Buffer.from(JSON.stringify(view));
    // A cluster of more nodes than fit shows none of them: all else matters more.
    const isTooLong = whole.length > TEXT_MAX_BYTES;
    const bytes = isTooLong ? Buffer.from(JSON.stringify({ ...view, nodes: [] })) : whole;
    this.#text.write(bytes.subarray(0, TEXT_MAX_BYTES));
  }

  /** @returns the same object until the note is written again; undefined: there is no cluster. */
  read(): ClusterView | undefined {
    if (this.#read?.version === this.#text.version) return this.#read.view;
    const { version, text } = this.#text.read();
    this.#read = { version, view: text === '' ? undefined : JSON.parse(text) };
    return this.#read.view;
  }
}
