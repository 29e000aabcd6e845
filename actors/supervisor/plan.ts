// Owns which actors a process has and what each is given at its start, made from the settings.

import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Settings, shownSettings } from '../../src/settings/settings.ts';
import type { HttpIngressData, IngressConfig, SocketIngressData } from '../ingress/start-data.ts';
import type { TimerData } from '../timer/timer.ts';
import type { CoordinatorPlan } from './coordinator-life.ts';
import type { ActorSpec } from './pool.ts';

export interface SystemPlan {
  /** Absolute. */
  readonly dataDir: string;
  readonly coordinator: CoordinatorPlan;
  readonly ingresses: readonly ActorSpec[];
  readonly reader: ActorSpec;
  readonly timer: ActorSpec;
}

/** An actor's data without its control port, which the pool makes. */
type DataOf<T extends { control: unknown }> = Omit<T, 'control'>;

export function planSystem(
  settings: Settings,
  progress: SharedArrayBuffer,
  version: string,
): SystemPlan {
  const { values } = settings;
  const dataDir = path.resolve(values.dataDir);
  const config: IngressConfig = {
    payloadMaxBytes: values.payloadMaxBytes,
    batchMaxBytes: values.batchMaxBytes,
    token: settings.token,
    shownConfig: shownSettings(settings),
    version,
  };
  const http: DataOf<HttpIngressData> = {
    kind: 'http',
    progress,
    config,
    listen: { host: values.httpHost, port: values.httpPort },
  };
  const socket: DataOf<SocketIngressData> = {
    kind: 'socket',
    progress,
    config,
    listen: { host: values.socketHost, port: values.socketPort },
    socketPath: values.socketPath,
  };
  const timer: DataOf<TimerData> = { tickMs: values.tickMs };
  return {
    dataDir,
    coordinator: planCoordinator(settings, dataDir, progress, version),
    ingresses: [
      { name: 'http', file: actorFile('http/http-ingress'), data: { ...http } },
      { name: 'socket', file: actorFile('socket/socket-ingress'), data: { ...socket } },
    ],
    reader: { name: 'reader', file: actorFile('reader/reader'), data: { dataDir, progress } },
    timer: { name: 'timer', file: actorFile('timer/timer'), data: { ...timer } },
  };
}

function planCoordinator(
  settings: Settings,
  dataDir: string,
  progress: SharedArrayBuffer,
  version: string,
): CoordinatorPlan {
  const { values } = settings;
  return {
    file: actorFile('coordinator/coordinator-thread'),
    mailbox: { maxRequests: values.mailboxMax, maxBytes: values.mailboxMaxBytes },
    data: {
      dataDir,
      archiveDir: values.archiveDir === undefined ? undefined : path.resolve(values.archiveDir),
      progress,
      segmentBytes: values.segmentBytes,
      tickMs: values.tickMs,
      acceptClock: values.acceptClock,
      skip: 0,
      cluster: settings.cluster,
      failedStarts: 0,
      version,
      core: {
        leaseDurationMs: values.leaseDurationMs,
        heartbeatIntervalMs: values.heartbeatIntervalMs,
        executionWindowMs: values.executionWindowMs,
        maxRetries: values.maxRetries,
        backoffMs: values.backoffMs,
        backoffFactor: values.backoffFactor,
        poisonThreshold: values.poisonThreshold,
        retentionMs: values.retentionMs,
        retentionFailedMs: values.retentionFailedMs,
        answerMaxBytes: values.batchMaxBytes,
      },
    },
  };
}

/** Threads are started from files, so the name must fit how this code runs: built or as it is. */
function actorFile(name: string): string {
  const suffix = import.meta.url.endsWith('.ts') ? '.ts' : '.js';
  return fileURLToPath(new URL(`../${name}${suffix}`, import.meta.url));
}
