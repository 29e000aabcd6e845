// Owns the certificates of tests with TLS: files in a directory of the test's own.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

export interface Certificates {
  readonly dir: string;
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/** An authority, and a certificate of it for this machine. @throws Error without openssl */
export function certificates(dir: string): Certificates {
  const at = (name: string) => path.join(dir, name);
  const run = (...args: string[]) => execFileSync('openssl', args, { stdio: 'ignore' });
  fs.writeFileSync(at('ext'), 'subjectAltName=DNS:localhost\n');
  const subject = ['-nodes', '-newkey', 'rsa:2048'];
  run('req', '-x509', ...subject, '-keyout', at('ca.key'), '-out', at('ca.pem'), '-subj', '/CN=ca');
  run('req', ...subject, '-keyout', at('key.pem'), '-out', at('csr'), '-subj', '/CN=etcd');
  const signed = ['-in', at('csr'), '-out', at('cert.pem'), '-extfile', at('ext')];
  run('x509', '-req', ...signed, '-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial');
  return { dir, ca: at('ca.pem'), cert: at('cert.pem'), key: at('key.pem') };
}
