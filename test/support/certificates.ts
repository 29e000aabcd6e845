// Owns the certificates of tests with TLS: files in a directory of the test's own.

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { skip } from './skip.ts';

export interface Certificates {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
}

/**
 * For the tests around it, which are skipped with a line where openssl is not installed.
 * @returns what gives them once the tests run
 */
export function withCertificates(): () => Certificates {
  let files: Certificates | undefined;
  let dir = '';
  before(function () {
    dir = fs.mkdtempSync(path.join(os.tmpdir(), 'leasehold-tls-'));
    try {
      files = certificates(dir);
    } catch {
      skip(this, 'openssl is missing');
    }
  });
  after(() => fs.rmSync(dir, { recursive: true }));
  return () => files as Certificates;
}

/** An authority, and a certificate of it for this machine. @throws Error without openssl */
function certificates(dir: string): Certificates {
  const at = (name: string) => path.join(dir, name);
  const run = (...args: string[]) => execFileSync('openssl', args, { stdio: 'ignore' });
  fs.writeFileSync(at('ext'), 'subjectAltName=DNS:localhost\n');
  const subject = ['-nodes', '-newkey', 'rsa:2048'];
  run('req', '-x509', ...subject, '-keyout', at('ca.key'), '-out', at('ca.pem'), '-subj', '/CN=ca');
  run('req', ...subject, '-keyout', at('key.pem'), '-out', at('csr'), '-subj', '/CN=etcd');
  const signed = ['-in', at('csr'), '-out', at('cert.pem'), '-extfile', at('ext')];
  run('x509', '-req', ...signed, '-CA', at('ca.pem'), '-CAkey', at('ca.key'), '-CAcreateserial');
  return { ca: at('ca.pem'), cert: at('cert.pem'), key: at('key.pem') };
}
