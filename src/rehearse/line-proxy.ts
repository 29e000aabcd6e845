// Owns the proxy before the coordinator's line socket, one for each worker process. The proxy
// reads every call and every answer as a whole line, asks the points what becomes of the line, and
// remembers the exchange. The calls of a batch are remembered one by one. A line that holds no
// call passes unchanged.

import { connect, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { unavailable } from '../model/refusal.ts';
import { formatRefusal } from '../protocol/answer-text.ts';
import { answerFate, requestFate } from './crossing.ts';
import type { Between } from './http-proxy.ts';
import { type Listening, listening } from './listening.ts';
import { type Json, lineRequest, objectOf, takeAnswer } from './requests.ts';
import type { Exchange } from './traffic.ts';

const REFUSED = unavailable('recovering', 'The rehearsal refuses requests for a while.');

export function lineProxy(between: Between): Promise<Listening> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true }, (worker) => {
    const behind = connect({ port: between.toPort, host: '127.0.0.1', allowHalfOpen: true });
    sockets.add(behind);
    behind.on('close', () => sockets.delete(behind));
    for (const socket of [worker, behind]) socket.on('error', () => {});
    new Line(between, worker, behind).open();
  });
  return listening(server, sockets);
}

/** One connection of a worker, and the one behind it. */
class Line {
  /** Calls that have no answer yet, by their id. */
  private readonly open_ = new Map<unknown, Exchange>();
  private readonly between: Between;
  private readonly worker: Socket;
  private readonly server: Socket;

  constructor(between: Between, worker: Socket, server: Socket) {
    this.between = between;
    this.worker = worker;
    this.server = server;
  }

  open(): void {
    const { worker, server } = this;
    const asked = this.lines(worker, (line) => this.asked(line));
    const answered = this.lines(server, (line) => this.answered(line));
    // Who closes the sending half of a connection still gets the answers to what was sent before.
    worker.on('end', () => void asked().then(() => server.end()));
    worker.on('close', () => server.destroy());
    server.on('end', () => void answered().then(() => worker.end()));
    server.on('close', () => void answered().then(() => worker.destroy()));
  }

  /** @returns resolves when every line that came so far is dealt with. */
  private lines(socket: Socket, take: (line: string) => Promise<void>): () => Promise<unknown> {
    const busy = new Set<Promise<void>>();
    // A reset connection ends the lines; the other side is told by 'close'.
    createInterface({ input: socket })
      .on('line', (line) => {
        const taking = take(line).finally(() => busy.delete(taking));
        busy.add(taking);
      })
      .on('error', () => {});
    return () => Promise.all(busy);
  }

  private async asked(line: string): Promise<void> {
    const { points, traffic, worker } = this.between;
    const calls = membersOf(line).filter(({ id }) => id !== undefined);
    const exchanges = calls.map((call) => {
      const exchange = traffic.open(worker, lineRequest(call));
      this.open_.set(call['id'], exchange);
      return exchange;
    });
    const fate = await requestFate(points, exchanges);
    if (fate === 'lose' || fate === 'cut') return this.cut();
    if (fate === 'unavailable') return this.refuse(line, calls);
    if (fate === 'double') this.server.write(`${line}\n`);
    this.server.write(`${line}\n`);
  }

  private async answered(line: string): Promise<void> {
    const answers = membersOf(line);
    const exchanges = answers.flatMap((answer) => {
      const exchange = this.open_.get(answer['id']);
      this.open_.delete(answer['id']);
      if (exchange === undefined) return [];
      takeAnswer(exchange, objectOf(answer['result']), this.between.traffic.now());
      return [exchange];
    });
    // The second answer to a call that was doubled, which the worker did not ask for, goes too.
    const isSecond = exchanges.length === 0 && answers.some(({ id }) => (id ?? null) !== null);
    if (isSecond) return;
    const fate = await answerFate(this.between.points, exchanges);
    if (fate === 'lose') return this.cut();
    if (fate === 'cut') return this.cut(line.slice(0, line.length >> 1));
    this.deliver(line, exchanges);
  }

  private deliver(line: string, exchanges: readonly Exchange[]): void {
    this.worker.write(`${line}\n`, (error) => {
      if (error !== undefined && error !== null) return;
      for (const exchange of exchanges) exchange.deliveredAt = this.between.traffic.now();
    });
  }

  /** Refuses each call of the line by itself, as a coordinator does that cannot decide now. */
  private refuse(line: string, calls: readonly Json[]): void {
    const refused = objectOf(JSON.parse(formatRefusal(REFUSED)));
    const answers = calls.map(({ id }) => ({ jsonrpc: '2.0', id, result: refused }));
    const exchanges = calls.flatMap(({ id }) => {
      const exchange = this.open_.get(id);
      this.open_.delete(id);
      if (exchange === undefined) return [];
      takeAnswer(exchange, refused, this.between.traffic.now());
      return [exchange];
    });
    const isBatch = line.trimStart().startsWith('[');
    this.deliver(JSON.stringify(isBatch ? answers : answers[0]), exchanges);
  }

  /** @param rest what still reaches the worker. */
  private cut(rest = ''): void {
    this.worker.write(rest, () => this.worker.destroy());
    this.server.destroy();
  }
}

/** The calls, or the answers, in a line: those of a batch, else one. */
function membersOf(line: string): readonly Json[] {
  try {
    const value: unknown = JSON.parse(line);
    return (Array.isArray(value) ? value : [value]).map(objectOf);
  } catch {
    return [];
  }
}
