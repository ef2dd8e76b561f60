import type { Socket } from 'node:net';
import type { SimulatedRouter } from '../router.ts';
import type { ClientSession, ServiceName } from '../sessions.ts';
import { type Endless, pourEndless } from './endless.ts';
import { LoginGate } from './login.ts';
import { SendQueue } from './send-queue.ts';
import { CommandRunner } from './runner.ts';
import { readRequest, type Request } from './request.ts';
import { ProtocolError, SentenceParser } from './sentence-parser.ts';

const ENOUGH = 'too many commands before login';

/** One API connection, from accept to close. */
export class ApiSession implements ClientSession {
  readonly service: ServiceName;
  readonly remoteAddress: string;
  user: string | undefined;
  readonly #router: SimulatedRouter;
  readonly #socket: Socket;
  readonly #parser = new SentenceParser();
  readonly #sendQueue: SendQueue;
  readonly #login: LoginGate;
  readonly #runner: CommandRunner;
  readonly #unregister: () => void;
  #isEndless = false;
  #state: 'open' | 'blackholed' | 'closing' = 'open';

  constructor(router: SimulatedRouter, socket: Socket, service: ServiceName) {
    this.#router = router;
    this.#socket = socket;
    this.service = service;
    this.remoteAddress = (socket.remoteAddress ?? '').replace(/^::ffff:/, '');
    const split = (): boolean => router.options.splitEveryByte || router.faults.splitReplies;
    this.#sendQueue = new SendQueue(socket, { split, muted: () => router.faults.silent });
    this.#login = new LoginGate(router.loginMethods);
    this.#runner = new CommandRunner(router, this.#sendQueue);
    this.#unregister = router.sessions.register(this, router.time.now());
    socket.setNoDelay(true);
    socket.on('data', (chunk) => this.#receive(chunk));
    socket.on('error', () => this.#end());
    socket.on('close', () => this.#end());
  }

  close(reset: boolean): void {
    this.#state = 'closing';
    if (reset) this.#socket.resetAndDestroy();
    else this.#socket.destroy();
  }

  blackhole(): void {
    if (this.#state !== 'open') return;
    this.#state = 'blackholed';
    this.#socket.pause();
    this.#sendQueue.hold(true);
  }

  reappear(): void {
    if (this.#state !== 'blackholed') return;
    this.#state = 'open';
    this.#sendQueue.hold(false);
    this.#socket.resume();
  }

  garble(bytes: Buffer): void {
    this.#sendQueue.sendBytes(bytes);
  }

  #end(): void {
    this.#unregister();
    this.#sendQueue.stop();
    this.#runner.abort();
    if (this.user !== undefined) this.#router.logout(this.user, this.remoteAddress, 'api');
    this.user = undefined;
  }

  #receive(chunk: Buffer): void {
    if (this.#state === 'closing') return;
    try {
      this.#parser.push(chunk, (words) => this.#handle(readRequest(words)));
    } catch (error) {
      // An error of the simulator ends this connection, not the process.
      if (!(error instanceof ProtocolError)) this.#router.log('system,error,critical', `api session failed: ${String(error)}`);
      this.close(false);
    }
  }

  #handle(request: Request): void {
    if (this.#state === 'closing' || this.#router.faults.deaf) return;
    if (request.word === '/quit') return this.#fatal('session terminated on request');
    if (request.word === '/login') return this.#logIn(request);
    if (this.user === undefined) return this.#refuse(request, 'not logged in');
    const { endless } = this.#router.faults;
    if (endless !== undefined) return this.#answerWithoutEnd(request, endless);
    if (request.word === '/cancel') this.#runner.cancel(request);
    else this.#runner.start(request, { user: this.user, address: this.remoteAddress });
  }

  /** Once for each connection: more would not come any faster. */
  #answerWithoutEnd(request: Request, kind: Endless): void {
    if (this.#isEndless) return;
    this.#isEndless = true;
    pourEndless(this.#socket, kind, request.tag ?? '');
  }

  #logIn(request: Request): void {
    const step = this.#login.step(request);
    if (step.kind === 'challenge') return this.#runner.reply(request, [['!done', `=ret=${step.ret}`]]);
    const from = { via: 'api', address: this.remoteAddress } as const;
    if (step.kind === 'invalid' || !this.#router.authenticateProof(step.name, step.proof, from)) {
      return this.#refuse(request, this.#router.version.atLeast('6.43') ? 'invalid user name or password (6)' : 'cannot log in');
    }
    this.user = step.name;
    this.#runner.reply(request, [['!done']]);
  }

  #refuse(request: Request, message: string): void {
    if (this.#login.fail()) return this.#fatal(ENOUGH);
    const said = this.#router.faults.spoil?.(request.path, 'message', message) ?? message;
    this.#runner.reply(request, [['!trap', `=message=${said}`], ['!done']]);
  }

  /** A bare reason word, no tag; then the router hangs up. */
  #fatal(reason: string): void {
    this.#state = 'closing';
    this.#sendQueue.send(['!fatal', reason]);
    void this.#sendQueue.drained().then(() => this.#socket.end());
  }
}
