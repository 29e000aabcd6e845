// The lines for nginx and Caddy of docs/RECIPES.md, each started with a certificate of its own
// authority before a coordinator with a token.

import { execFileSync, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { WAIT_MAX_MS } from '../../src/model/limits.ts';
import { sharedServer } from '../client/real-server.ts';
import { ownPort } from '../support/own-port.ts';
import { skip } from '../support/skip.ts';
import { endPrograms, Program } from './program.ts';

const TOKEN = 'a-token-of-the-tests';
const CLIENT = fileURLToPath(new URL('./tls-client.js', import.meta.url));
const read = (name: string): string => fs.readFileSync(path.join('docs', 'examples', name), 'utf8');

/** A busy machine may need longer than the first for what is no long poll. */
const CUT_SECONDS = [1, 10];

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'leasehold-tls-'));
const at = (name: string): string => path.join(folder, name);
fs.writeFileSync(at('token'), `${TOKEN}\n`);

/** What differs between the example and this machine; each must stand in it. */
function changed(text: string, changes: Readonly<Record<string, string>>): string {
  return Object.entries(changes).reduce((now, [from, to]) => {
    expect(now).to.include(from);
    return now.replaceAll(from, to);
  }, text);
}

interface Proxy {
  readonly name: string;
  readonly command: string;
  readonly version: string;
  start(port: number, coordinator: string, more?: Readonly<Record<string, string>>): Program;
}

const nginx: Proxy = {
  name: 'nginx',
  command: 'nginx',
  version: '-v',
  start(port, coordinator, more = {}) {
    const block = changed(read('nginx.conf'), {
      '127.0.0.1:5327': coordinator,
      'listen 443 ssl': `listen 127.0.0.1:${port} ssl`,
      '/etc/ssl/tasks.example.org.pem': at('server.pem'),
      '/etc/ssl/tasks.example.org.key': at('server.key'),
      ...more,
    });
    const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${at(`nginx-${name}`)};`,
    );
    const user = process.getuid?.() === 0 ? 'user root;' : '';
    const whole = [
      `${user} daemon off; master_process off; pid ${at('nginx.pid')}; error_log stderr;`,
      'events {}',
      `http { access_log off; ${paths.join(' ')}\n${block}}`,
    ];
    fs.writeFileSync(at('nginx.conf'), whole.join('\n'));
    return new Program('nginx', ['-c', at('nginx.conf'), '-p', folder], process.env);
  },
};

const caddy: Proxy = {
  name: 'Caddy',
  command: 'caddy',
  version: 'version',
  start(port, coordinator, more = {}) {
    const certificate = `tls ${at('server.pem')} ${at('server.key')}`;
    const site = changed(read('Caddyfile'), {
      '127.0.0.1:5327': coordinator,
      'tasks.example.org {': `https://localhost:${port} {\n\t${certificate}`,
      ...more,
    });
    const options = '{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n}\n';
    fs.writeFileSync(at('Caddyfile'), options + site);
    const env = { ...process.env, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder, HOME: folder };
    return new Program(
      'caddy',
      ['run', '--config', at('Caddyfile'), '--adapter', 'caddyfile'],
      env,
    );
  },
};

describe('the recipes for TLS', () => {
  const server = sharedServer('--token-file', at('token'));
  before(function () {
    if (spawnSync('openssl', ['version']).status !== 0) skip(this, 'openssl is missing');
    makeCertificates();
  });
  afterEach(endPrograms);
  after(() => fs.rmSync(folder, { recursive: true, force: true }));

  const client = async (url: string, env: NodeJS.ProcessEnv, pollMs = 2_500) => {
    const program = new Program(process.execPath, [CLIENT, url, TOKEN, `${pollMs}`], env);
    await program.ended();
    return JSON.parse(program.lines.find((line) => line.startsWith('{')) ?? '{}') as object;
  };
  const knowing = { PATH: process.env['PATH'], NODE_EXTRA_CA_CERTS: at('ca.pem') };

  for (const proxy of [nginx, caddy]) {
    describe(proxy.name, () => {
      before(function () {
        const { status } = spawnSync(proxy.command, [proxy.version]);
        if (status !== 0) skip(this, `${proxy.command} is missing`);
      });
      const start = async (more: Readonly<Record<string, string>> = {}): Promise<string> => {
        const port = await ownPort();
        const program = proxy.start(port, new URL(server.http).host, more);
        await answers(port, program);
        return `https://localhost:${port}`;
      };

      it('carries submits, a worker, long polls and records that are followed', async () => {
        expect(await client(await start(), knowing)).to.deep.equal({
          batch: 4,
          work: 'done',
          follow: true,
          poll: 'no_task',
          stop: true,
          stranger: 'UNAUTHORIZED',
        });
      });

      it('is not believed without its authority', async () => {
        const answer = await client(await start(), { PATH: process.env['PATH'] });
        expect(JSON.stringify(answer)).to.match(/certificate/);
      });

      it('would cut long polls off with a shorter time', async () => {
        let answer: object = {};
        for (const seconds of CUT_SECONDS) {
          const url = await start({ '75s': `${seconds}s` });
          answer = await client(url, knowing, 2_500 * seconds);
          if ('work' in answer) break;
        }
        expect(answer).to.include({ work: 'done', poll: 'UNREACHABLE' });
        const [, seconds] =
          /(\d+)s/.exec(/timeout (\d+s)/.exec(read(exampleOf(proxy)))?.[1] ?? '') ?? [];
        expect(Number(seconds) * 1_000).to.be.greaterThan(WAIT_MAX_MS);
      });
    });
  }
});

const exampleOf = ({ name }: Proxy): string => (name === 'Caddy' ? 'Caddyfile' : 'nginx.conf');

/** An authority, and a certificate for localhost that it has signed. */
function makeCertificates(): void {
  const openssl = (...args: string[]): void =>
    void execFileSync('openssl', args, { stdio: ['ignore', 'ignore', 'pipe'], cwd: folder });
  const fresh = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl(
    ...['req', '-x509', ...fresh, '-keyout', 'ca.key', '-out', 'ca.pem', '-days', '2'],
    ...['-subj', '/CN=an authority of the tests'],
  );
  openssl(
    ...['req', ...fresh, '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=localhost'],
  );
  fs.writeFileSync(at('names'), 'subjectAltName=DNS:localhost,IP:127.0.0.1');
  openssl(
    ...['x509', '-req', '-in', 'server.csr', '-CA', 'ca.pem', '-CAkey', 'ca.key'],
    ...['-CAcreateserial', '-extfile', 'names', '-out', 'server.pem', '-days', '2'],
  );
}

/** A proxy says nothing when it listens. @throws Error when it ends instead */
async function answers(port: number, program: Program): Promise<void> {
  for (;;) {
    const response = await fetch(`http://127.0.0.1:${port}/livez`).catch(() => undefined);
    // To a request without TLS both answer 400.
    if (response !== undefined) return;
    if (!program.isRunning) throw new Error(program.lines.join('\n'));
    await pause(50);
  }
}
