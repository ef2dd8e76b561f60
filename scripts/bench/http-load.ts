import http from 'node:http';

/** A client with persistent connections, so that requests and not handshakes are measured. Plain HTTP only. */
export class HttpLoad {
  readonly #agent: http.Agent;
  readonly #url: URL;
  readonly #apiKey: string;

  constructor(api: { url: string; apiKey: string }, connections: number) {
    this.#url = new URL(api.url);
    this.#apiKey = api.apiKey;
    this.#agent = new http.Agent({ keepAlive: true, maxSockets: connections });
  }

  /** @returns the status */
  get(path: string): Promise<number> {
    return new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${this.#apiKey}` };
      const target = { agent: this.#agent, host: this.#url.hostname, port: this.#url.port, path, headers };
      const request = http.get(target, (answer) => {
        answer.resume();
        answer.once('end', () => resolve(answer.statusCode ?? 0));
        answer.once('error', reject);
      });
      request.once('error', reject);
    });
  }

  /** @returns the status */
  post(path: string, body: string): Promise<number> {
    return new Promise((resolve, reject) => {
      const request = http.request(
        {
          agent: this.#agent,
          host: this.#url.hostname,
          port: this.#url.port,
          path,
          method: 'POST',
          headers: {
            authorization: `Bearer ${this.#apiKey}`,
            'content-type': 'application/json',
            'content-length': Buffer.byteLength(body),
          },
        },
        (answer) => {
          answer.resume();
          answer.once('end', () => resolve(answer.statusCode ?? 0));
          answer.once('error', reject);
        },
      );
      request.once('error', reject);
      request.end(body);
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}
