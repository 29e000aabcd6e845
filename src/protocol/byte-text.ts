// Owns texts of bytes: strings in which each character stands for one byte (Latin-1). An answer
// goes from the mailbox to a connection without being looked at, and the engine copies, joins and
// writes such strings faster than it makes views of bytes. Bytes in UTF-8 stay those bytes: a
// letter beyond ASCII is two to four characters here. So a text of bytes is never shown, and a text
// of letters must pass `inBytes` before it is joined with one.

declare const isByteText: unique symbol;
/** The brand keeps the two kinds of text apart. */
export type ByteText = string & { readonly [isByteText]: true };

/** Bytes of an answer: as text, or where they are many outside of the engine's heap. */
export type AnswerBytes = ByteText | Buffer;

const BEYOND_ASCII = /[^\0-\x7f]/;

/** @returns the UTF-8 of a text of letters. */
export const inBytes = (text: string): ByteText =>
  (BEYOND_ASCII.test(text) ? Buffer.from(text, 'utf8').toString('latin1') : text) as ByteText;

/** @returns the bytes from..to (exclusive), as they are. */
export const byteTextOf = (bytes: Buffer, from = 0, to = bytes.length): ByteText =>
  bytes.toString('latin1', from, to) as ByteText;
