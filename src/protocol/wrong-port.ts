// Owns what happens when a client speaks to the wrong one of the two ports: how the server
// recognizes the first line of HTTP on the port of the socket, the one answer that such a client
// can read, and how clients recognize that they are at the wrong port.

const OPEN_BRACKET = 0x5b;
const OPEN_BRACE = 0x7b;
const WHITE_SPACE = new Set([0x20, 0x09, 0x0d, 0x0a]);

/** METHOD SP target SP HTTP/1.1: no JSON text has this form, whatever stands in a payload. */
const REQUEST_LINE = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+ [^ \t]+ HTTP\/\d(\.\d)?[ \t]*\r?$/;

/** @param line a first line, without its line feed. */
export const isRequestLine = (line: Buffer): boolean =>
  !opensJson(line[0] ?? 0) && REQUEST_LINE.test(line.toString('latin1'));

/** @returns whether a line that begins with this byte can be a call or a batch. */
export const opensJson = (first: number): boolean =>
  first === OPEN_BRACE || first === OPEN_BRACKET || WHITE_SPACE.has(first);

const TAKES = 'This port takes JSON-RPC 2.0, one call a line. HTTP is spoken ';

/** @param httpAddress where HTTP is spoken, as a URL; undefined: not known. */
export function wrongPortAnswer(httpAddress: string | undefined): string {
  const place = httpAddress === undefined ? 'at another port' : `at ${httpAddress}`;
  const text = `${TAKES}${place}.\n`;
  return (
    'HTTP/1.1 400 Bad Request\r\ncontent-type: text/plain; charset=utf-8\r\n' +
    `connection: close\r\ncontent-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
  );
}

/**
 * @param text the body of an answer over HTTP
 * @returns where HTTP is spoken, in words; undefined when it is no answer of a socket's port
 */
export const httpPlaceIn = (text: string): string | undefined =>
  text.startsWith(TAKES) ? text.slice(TAKES.length).trimEnd().replace(/\.$/, '') : undefined;

/** @returns whether a line that came over the socket is the first one of an answer over HTTP. */
export const isHttpAnswer = (line: Buffer): boolean =>
  /^HTTP\/\d/.test(line.subarray(0, 8).toString('latin1'));
