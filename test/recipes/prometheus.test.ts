// The scrape of docs/RECIPES.md: the metrics are answered to whoever asks as the file tells
// Prometheus to ask, and to nobody else.

import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { sharedServer } from '../client/real-server.ts';
import { skip } from '../support/skip.ts';

const TOKEN = 'a-token-of-the-tests';
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'leasehold-prometheus-'));
const at = (name: string): string => path.join(folder, name);
fs.writeFileSync(at('leasehold.token'), `${TOKEN}\n`);

describe('the recipe for Prometheus', () => {
  const server = sharedServer('--token-file', at('leasehold.token'));
  after(() => fs.rmSync(folder, { recursive: true, force: true }));

  /** The example, with its paths and its target on this machine. */
  const config = (): string =>
    fs
      .readFileSync('docs/examples/prometheus.yml', 'utf8')
      .replaceAll('/etc/prometheus', folder)
      .replace('127.0.0.1:5327', new URL(server.http).host);
  const value = (key: string): string => {
    const [, found = ''] = new RegExp(`^[\\s-]*${key}: (.*)$`, 'm').exec(config()) ?? [];
    expect(found, key).not.to.equal('');
    return found;
  };

  it('is answered with the header that its lines make', async () => {
    const [, target = ''] = /\[.(.*).\]/.exec(value('targets')) ?? [];
    const url = `${value('scheme')}://${target}${value('metrics_path')}`;
    // As Prometheus does: white space around the credentials is taken away.
    const credentials = fs.readFileSync(value('credentials_file'), 'utf8').trim();
    const headers = { authorization: `${value('type')} ${credentials}` };
    const answer = await fetch(url, { headers });
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('content-type')).to.match(/^text\/plain; version=0\.0\.4/);
    expect(await answer.text()).to.include('leasehold_log_last_sequence ');
    expect((await fetch(url)).status).to.equal(401);
  });

  it('is a configuration, says promtool', function () {
    if (spawnSync('promtool', ['--version']).status !== 0) skip(this, 'promtool is missing');
    fs.copyFileSync('docs/alerts.yml', at('leasehold-alerts.yml'));
    fs.writeFileSync(at('prometheus.yml'), config());
    const { status, stdout, stderr } = spawnSync(
      'promtool',
      ['check', 'config', at('prometheus.yml')],
      { encoding: 'utf8' },
    );
    expect(status, stdout + stderr).to.equal(0);
  });
});
