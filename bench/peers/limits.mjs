// Owns the systems that do nothing: what they reach is the most that a server of one thread in Node
// can reach with this driver on this machine, and the goals are shares of that.

import { fileURLToPath } from 'node:url';
import { httpClient, socketClient } from './leasehold.mjs';
import { startProcess } from './processes.mjs';

const NOTHING = { submit: false, lease: false, complete: false };
const place = (name) => fileURLToPath(new URL(name, import.meta.url));

const startNode = (name, args) =>
  startProcess({
    name,
    command: process.execPath,
    args: (directory, port) => args(port, directory),
  });

const echo = {
  name: 'echo',
  promise: 'a limit: each line is parsed and answered with the same bytes; nothing is kept',
  flushed: NOTHING,
  pipelines: true,
  start: () => startNode('echo', (port) => [place('echo-server.mjs'), port]),
  client: ({ port }, index, payload) => socketClient(port, index, payload),
};

const flushingEcho = {
  ...echo,
  name: 'echo+flush',
  promise: 'a limit: the same, with one write and one flush for all lines of a turn',
  flushed: { submit: true, lease: true, complete: true },
  open: true,
  start: () =>
    startNode('echo', (port, directory) => [place('echo-server.mjs'), port, `${directory}/log`]),
};

const cannedHttp = {
  name: 'echo, node:http',
  promise: 'a limit: each body is parsed and answered with the same bytes; nothing is kept',
  flushed: NOTHING,
  pipelines: false,
  start: () => startNode('http', (port) => [place('canned-http-server.mjs'), port]),
  client: ({ port }, index, payload) => httpClient(port, index, payload),
};

const bareRoute = {
  name: 'echo, fastify',
  promise: 'a limit: one route with the fields of a submit; nothing is kept',
  flushed: { submit: false },
  pipelines: false,
  submits: true,
  only: true,
  start: () => startNode('route', (port) => [place('../../dist/bench/bare-route.js'), port]),
  client: ({ port }, index, payload) => httpClient(port, index, payload),
};

export const limits = [echo, flushingEcho, cannedHttp, bareRoute];
