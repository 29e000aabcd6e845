// Owns how the quota of a member of etcd is learnt where its status does not tell it, which it does
// from version 3.6 on: by the metrics that every member shows at the URL that clients use.

import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';

interface Tls {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

const LINE = /^etcd_server_quota_backend_bytes (\S+)$/m;
/** The metrics of a member take some 150 kB. */
const TEXT_MAX_BYTES = 4_000_000;

/** @returns undefined: the member does not tell it. Never rejects. */
export async function memberQuota(url: string, tls: Tls, ms: number): Promise<number | undefined> {
  const text = await textOf(`${url}/metrics`, tls, AbortSignal.timeout(ms)).catch(() => '');
  const bytes = Number(LINE.exec(text)?.[1]);
  return bytes > 0 ? bytes : undefined;
}

async function textOf(url: string, tls: Tls, signal: AbortSignal): Promise<string> {
  const { get } = url.startsWith('https:') ? https : http;
  const asked = get(url, { ...tls, agent: false, signal });
  // Nobody else hears what comes after the answer has begun.
  asked.on('error', () => {});
  const [answer] = (await once(asked, 'response', { signal })) as [http.IncomingMessage];
  let text = '';
  answer.setEncoding('utf8');
  for await (const part of answer) {
    text += String(part);
    if (text.length > TEXT_MAX_BYTES) throw new Error('this is no member of etcd');
  }
  return text;
}
