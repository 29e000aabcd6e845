// The knobs: where a value comes from, what is refused and by which name, and what is shown.

import { expect } from 'chai';
import { shortDuration } from '../../src/model/read-duration.ts';
import { helpOf } from '../../src/settings/knob.ts';
import {
  flagOf,
  KNOB_NAMES,
  KNOBS,
  type KnobName,
  keyOf,
  variableOf,
} from '../../src/settings/knob-table.ts';
import { isLoopback, KnobError, readSettings, shownSettings } from '../../src/settings/settings.ts';

interface Given {
  flags?: Partial<Record<KnobName, string | true>>;
  env?: Record<string, string>;
  files?: Record<string, string>;
  configFile?: string;
}

const read = ({ flags = {}, env = {}, files = {}, configFile }: Given) =>
  readSettings({
    flags,
    env,
    configFile,
    readFile(path) {
      const content = files[path];
      if (content === undefined) throw new Error(`ENOENT: no such file, open '${path}'`);
      return content;
    },
  });

const refused = (given: Given): string => {
  try {
    read(given);
  } catch (error) {
    expect(error).to.be.instanceOf(KnobError);
    return (error as Error).message;
  }
  throw new Error('it was accepted');
};

describe('settings', () => {
  it('have the documented defaults', () => {
    const { values, sources } = read({});
    expect(values).to.include({
      dataDir: './leasehold-data',
      leaseDurationMs: 30_000,
      heartbeatIntervalMs: 10_000,
      maxRetries: 3,
      backoffMs: 30_000,
      backoffFactor: 1,
      executionWindowMs: 3_600_000,
      poisonThreshold: 10,
      retentionMs: 604_800_000,
      retentionFailedMs: 7_776_000_000,
      tickMs: 50,
      httpHost: '127.0.0.1',
      httpPort: 5_327,
      socketHost: '127.0.0.1',
      socketPort: 5_328,
      mailboxMax: 65_536,
      mailboxMaxBytes: 67_108_864,
      batchMaxBytes: 16_777_216,
      payloadMaxBytes: 1_048_576,
    });
    expect(new Set(Object.values(sources))).to.deep.equal(new Set(['default']));
  });

  it('take the flag before the variable, the variable before the file', () => {
    const file = '{"max_retries": 1, "backoff_ms": 1, "tick_ms": 1}';
    const { values, sources } = read({
      flags: { maxRetries: '3' },
      env: { LEASEHOLD_MAX_RETRIES: '2', LEASEHOLD_BACKOFF_MS: '2' },
      files: { 'knobs.json': file },
      configFile: 'knobs.json',
    });
    expect(values).to.include({ maxRetries: 3, backoffMs: 2, tickMs: 1, leaseDurationMs: 30_000 });
    expect(sources).to.include({
      maxRetries: 'flag',
      backoffMs: 'env',
      tickMs: 'file',
      leaseDurationMs: 'default',
    });
  });

  it('refuse every numeric knob just outside its range, and take its ends', () => {
    for (const name of KNOB_NAMES) {
      const knob = KNOBS[name];
      if (knob.kind !== 'whole' && knob.kind !== 'number') continue;
      const flags = (value: number) => ({ flags: { [name]: String(value) } });
      expect(refused(flags(knob.min - 1)))
        .to.include(flagOf(name))
        .and.include(`${knob.min}`);
      expect(refused(flags(knob.max + 1)))
        .to.include(flagOf(name))
        .and.include(`${knob.max}`);
      expect(read(flags(knob.min)).values[name]).to.equal(knob.min);
      if (name === 'heartbeatIntervalMs') continue;
      expect(read(flags(knob.max)).values[name]).to.equal(knob.max);
    }
  });

  for (const given of [
    '',
    ' ',
    '10 s',
    '10S',
    's',
    '1.5s',
    '-1s',
    '36501d',
    '10min',
    '1.5',
    '1e3',
    '0x10',
    '+1',
    'NaN',
    'Infinity',
    '١',
    '-0.1',
  ]) {
    it(`refuse ${JSON.stringify(given)} where a duration belongs`, () => {
      const message = refused({ flags: { leaseDurationMs: given } });
      expect(message).to.include('--lease-duration-ms').and.include('3153600000000');
      expect(message).to.include(JSON.stringify(given)).and.include('10m');
    });
  }

  it('read durations with their unit from flag, variable and file', () => {
    const files = { f: '{"backoff_ms": "2m", "tick_ms": "50ms", "retention_ms": "7d"}' };
    const { values } = read({
      flags: { leaseDurationMs: '45s', retentionFailedMs: '0d', acceptClock: true },
      env: { LEASEHOLD_EXECUTION_WINDOW_MS: '2h', LEASEHOLD_HEARTBEAT_INTERVAL_MS: '5s' },
      files,
      configFile: 'f',
    });
    expect(values).to.include({
      leaseDurationMs: 45_000,
      heartbeatIntervalMs: 5_000,
      executionWindowMs: 7_200_000,
      retentionMs: 604_800_000,
      retentionFailedMs: 0,
      backoffMs: 120_000,
      tickMs: 50,
    });
  });

  it('show each default in the help as a flag may be given', () => {
    for (const name of KNOB_NAMES) {
      const { default: standard, kind } = KNOBS[name];
      const [, shown] = /\(default (\S+)\)$/.exec(helpOf(KNOBS[name])) ?? [];
      if (standard === undefined) expect(shown, name).to.equal(undefined);
      else if (kind !== 'switch') {
        const { values } = read({ flags: { [name]: String(shown) } });
        expect(values[name], name).to.equal(standard);
      }
    }
    expect(helpOf(KNOBS.retentionMs)).to.include('(default 7d)');
    expect([0, 1, 1_500, 60_000].map(shortDuration)).to.deep.equal(['0ms', '1ms', '1500ms', '1m']);
  });

  it('read a unit nowhere but at durations', () => {
    for (const name of KNOB_NAMES) {
      const knob = KNOBS[name];
      if (knob.kind !== 'whole' && knob.kind !== 'number') continue;
      if (knob.unit === 'ms') expect(() => read({ flags: { [name]: '1s' } })).to.not.throw();
      else expect(refused({ flags: { [name]: '1s' } })).to.include(flagOf(name));
    }
    expect(refused({ files: { f: '{"backoff_ms": "100"}' }, configFile: 'f' })).include('"100"');
  });

  it('refuse the path of a Unix socket that the system would cut off', () => {
    expect(refused({ flags: { socketPath: `/run/${'x'.repeat(110)}` } }))
      .to.include('--socket-path')
      .and.match(/10[37] bytes/);
    expect(readSettings({ flags: { socketPath: '/run/x' }, env: {}, readFile: () => '' }))
      .to.have.property('values')
      .which.includes({ socketPath: '/run/x' });
  });

  it('name the variable or file that a bad value came from, and the flag of the knob', () => {
    expect(refused({ env: { LEASEHOLD_TICK_MS: 'abc' } }))
      .to.include('LEASEHOLD_TICK_MS')
      .and.include('--tick-ms');
    const files = { f: '{"tick_ms": "50"}' };
    expect(refused({ files, configFile: 'f' }))
      .to.include('tick_ms in f')
      .and.include('--tick-ms');
  });

  it('refuse the data directory for the archive, however it is written', () => {
    for (const archiveDir of ['d', './d', 'd/', 'x/../d', `${process.cwd()}/d`]) {
      const said = refused({ flags: { dataDir: 'd', archiveDir } });
      expect(said).to.include('--archive-dir').and.include('is the data directory itself');
    }
    expect(refused({ flags: { archiveDir: 'leasehold-data' } })).to.include('--archive-dir');
  });

  it('refuse a file that is missing, no JSON, no object, or names a knob that is none', () => {
    expect(refused({ configFile: 'gone' })).to.include('gone');
    for (const content of ['{', '[]', 'null', '7', '{"lease_duration": 1}', '{"token": "x"}']) {
      expect(refused({ files: { f: content }, configFile: 'f' })).to.include('--config f');
    }
    const twice = '{"lease_duration_ms": 5000, "lease_duration_ms": 6000}';
    const said = refused({ files: { f: twice }, configFile: 'f' });
    expect(said).to.include('--config f: The key lease_duration_ms is given twice.');
  });

  it('derive the heartbeat interval from the lease, and refuse more than half of it', () => {
    const at = (lease: string, beat?: string) =>
      read({
        flags: {
          leaseDurationMs: lease,
          ...(beat === undefined ? {} : { heartbeatIntervalMs: beat }),
        },
      }).values.heartbeatIntervalMs;
    expect(at('1000')).to.equal(333);
    expect(at('2')).to.equal(1);
    expect(at('1')).to.equal(1);
    expect(at('1000', '500')).to.equal(500);
    expect(refused({ flags: { leaseDurationMs: '1000', heartbeatIntervalMs: '501' } }))
      .to.include('--heartbeat-interval-ms')
      .and.include('1000');
    expect(refused({ flags: { heartbeatIntervalMs: '20000' } })).to.include('15000');
  });

  it('never show the token, only whether there is one', () => {
    const secret = 'correct-horse';
    const shown = shownSettings(read({ env: { LEASEHOLD_TOKEN: secret } }));
    expect(shown['token']).to.deep.equal({ value: 'set', source: 'env' });
    expect(JSON.stringify(shown)).to.not.include(secret);
    expect(shownSettings(read({}))['token']?.value).to.equal('not set');
  });

  it('read the token file without its line end, and refuse what cannot be a header', () => {
    const token = (content: string) =>
      read({ flags: { tokenFile: 't' }, files: { t: content } }).token;
    expect(token('secret-abc\n')).to.equal('secret-abc');
    for (const content of ['', '\n', 'two words', 'schlüssel', 'x'.repeat(4_097)]) {
      const message = refused({ flags: { tokenFile: 't' }, files: { t: content } });
      expect(message).to.include('--token-file');
      if (content.trim() !== '') expect(message).to.not.include(content.trim());
    }
    expect(refused({ flags: { tokenFile: 'gone' } })).to.include('--token-file gone');
  });

  it('read the token variable as the file: without spaces and line ends around it', () => {
    const token = (variable: string) => read({ env: { LEASEHOLD_TOKEN: variable } }).token;
    for (const given of ['abc', 'abc\n', ' abc', '\tabc\r\n']) expect(token(given)).equal('abc');
    for (const given of ['', '\n', 'ab\nc', 'two words', 'schlüssel']) {
      expect(refused({ env: { LEASEHOLD_TOKEN: given } })).to.include('LEASEHOLD_TOKEN');
    }
  });

  it('say what is wrong with a file in words, and the code behind them', () => {
    const readFile = (code: string) => () => {
      throw Object.assign(new Error(`${code}: raw`), { code });
    };
    const said = (code: string): string => {
      try {
        readSettings({ flags: {}, env: {}, configFile: 'f', readFile: readFile(code) });
      } catch (error) {
        return (error as Error).message;
      }
      return '';
    };
    expect(said('ENOENT')).equal('--config f: it does not exist (ENOENT)');
    expect(said('EACCES')).equal('--config f: this user has no permission (EACCES)');
    expect(said('ERR_STRING_TOO_LONG')).include('longer than').and.not.include('raw');
    expect(said('ESOMETHING')).include('ESOMETHING: raw');
  });

  it('refuse an address that others can reach unless there is a token', () => {
    for (const host of ['0.0.0.0', '::', '10.0.0.1', 'example.org', '127.0.0.1.example.org']) {
      const message = refused({ flags: { httpHost: host } });
      expect(message).to.include('--http-host').and.include('token');
      expect(refused({ flags: { socketHost: host } })).to.include('--socket-host');
      expect(read({ flags: { httpHost: host }, env: { LEASEHOLD_TOKEN: 'x' } }).token).to.equal(
        'x',
      );
    }
    for (const host of ['127.0.0.1', '127.1.2.3', '::1', 'localhost']) {
      expect(isLoopback(host), host).to.equal(true);
    }
  });

  it('have one spelling for flag, variable and key, and no two knobs share it', () => {
    expect(flagOf('httpPort')).to.equal('--http-port');
    expect(variableOf('httpPort')).to.equal('LEASEHOLD_HTTP_PORT');
    expect(keyOf('httpPort')).to.equal('http_port');
    expect(new Set(KNOB_NAMES.map(keyOf)).size).to.equal(KNOB_NAMES.length);
    expect(variableOf('tokenFile')).to.not.equal('LEASEHOLD_TOKEN');
  });
});
