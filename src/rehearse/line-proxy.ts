// Owns the proxy before the coordinator's line socket, one for each worker process. The proxy
// reads every call and every answer as a whole line, asks the points what becomes of the line, and
// remembers the exchange. A line that is not a single call with an id (a batch, for example)
// passes unchanged.

import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Between, Proxy } from './http-proxy.ts';
import type { Point } from './points.ts';
import { jsonOf, lineRequest, pointsOf, takeAnswer } from './requests.ts';
import type { Exchange } from './traffic.ts';

export async function lineProxy(between: Between): Promise<Proxy> {
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  };
  const server = createServer({ allowHalfOpen: true }, (worker) => {
    const options = { port: between.toPort, host: '127.0.0.1', allowHalfOpen: true };
    new Line(between, keep(worker), keep(connect(options))).open();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
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
    this.lines(worker, (line) => void this.asked(line));
    this.lines(server, (line) => void this.answered(line));
    worker.on('end', () => server.end()).on('close', () => server.destroy());
    server.on('end', () => worker.end()).on('close', () => worker.destroy());
  }

  private lines(socket: Socket, take: (line: string) => void): void {
    // A reset connection ends the lines; the other side is told by 'close'.
    createInterface({ input: socket })
      .on('line', take)
      .on('error', () => {});
  }

  private async asked(line: string): Promise<void> {
    const call = jsonOf(line);
    if (call['id'] === undefined) return void this.server.write(`${line}\n`);
    const exchange = this.between.traffic.open(this.between.worker, lineRequest(call));
    this.open_.set(call['id'], exchange);
    const [point] = pointsOf(exchange.op);
    const fate = await this.between.points.reach({ point, ...exchange });
    exchange.requestFate = fate;
    if (fate === 'lose' || fate === 'cut') return this.cut();
    if (fate === 'unavailable') return this.refuse(call['id'], exchange);
    if (fate === 'double') this.server.write(`${line}\n`);
    this.server.write(`${line}\n`);
  }

  private async answered(line: string): Promise<void> {
    const answer = jsonOf(line);
    const exchange = this.open_.get(answer['id']);
    if (exchange === undefined) {
      // The second answer to a call that was doubled, which the worker did not ask for, goes too.
      if (answer['id'] === undefined || Array.isArray(answer)) this.worker.write(`${line}\n`);
      return;
    }
    this.open_.delete(answer['id']);
    const { traffic, worker } = this.between;
    takeAnswer(exchange, jsonOf(JSON.stringify(answer['result'] ?? {})), traffic.now());
    const [grant] = exchange.granted;
    const point: Point = pointsOf(exchange.op)[1];
    const taskId = exchange.taskId ?? grant?.taskId;
    const leaseId = exchange.leaseId ?? grant?.leaseId;
    const isEmpty = point === 'grant' && grant === undefined;
    const arrival = { point, worker, taskId, leaseId };
    const fate = isEmpty ? 'pass' : await this.between.points.reach(arrival);
    exchange.answerFate = fate;
    if (fate === 'lose') return this.cut();
    if (fate === 'cut') return this.cut(line.slice(0, line.length >> 1));
    this.deliver(line, exchange);
  }

  private deliver(line: string, exchange: Exchange): void {
    this.worker.write(`${line}\n`, (error) => {
      if (error === undefined || error === null) exchange.deliveredAt = this.between.traffic.now();
    });
  }

  private refuse(id: unknown, exchange: Exchange): void {
    const result = { outcome: 'UNAVAILABLE', reason: 'recovering' };
    this.open_.delete(id);
    exchange.answered = { at: this.between.traffic.now(), ...result };
    this.deliver(JSON.stringify({ jsonrpc: '2.0', id, result }), exchange);
  }

  /** @param rest what still reaches the worker. */
  private cut(rest = ''): void {
    this.worker.write(rest, () => this.worker.destroy());
    this.server.destroy();
  }
}
