// Owns the HTTP ingress as an actor: the pool's task that ends when it was asked to stop. What it
// does is in http-server.ts.

import type { HttpIngressData } from '../ingress/start-data.ts';
import type { ProducerControl } from '../shared/control.ts';
import { serveControl } from '../shared/control-port.ts';
import { HttpServer } from './http-server.ts';

/** The pool's task; resolves after stop. */
export default function httpIngress({ control, ...options }: HttpIngressData): Promise<void> {
  return new Promise((resolve) => {
    const server = new HttpServer(options);
    const actor: ProducerControl = {
      connect: (end) => server.connect(end),
      connectReader: (port) => server.connectReader(port),
      start: () => server.start(),
      quiesce: () => server.quiesce(),
      async stop() {
        await server.stop();
        setImmediate(resolve);
      },
    };
    serveControl(control, actor);
  });
}
