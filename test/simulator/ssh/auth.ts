import ssh2, { type AuthContext, type AuthenticationType, type KeyboardAuthContext, type PublicKeyAuthContext } from 'ssh2';
import type { SshRouter } from './types.ts';

const allMethods: readonly AuthenticationType[] = ['publickey', 'password', 'keyboard-interactive'];
/** OpenSSH clients stop at six as well. */
const maxFailures = 6;

/** Decides the logins of one connection. */
export class LoginGate {
  private readonly router: SshRouter;
  private readonly address: string;
  private readonly methods: readonly AuthenticationType[];
  private readonly onLogin: (user: string, terminalFlags: string) => void;
  private readonly hangUp: () => void;
  private failures = 0;

  constructor(
    router: SshRouter,
    address: string,
    methods: readonly AuthenticationType[] | undefined,
    on: { login(user: string, terminalFlags: string): void; tooMany(): void },
  ) {
    this.router = router;
    this.address = address;
    this.methods = methods ?? allMethods;
    this.onLogin = (user, flags) => on.login(user, flags);
    this.hangUp = () => on.tooMany();
  }

  /** Answers one authentication request. */
  answer(context: AuthContext): void {
    if (context.method === 'none' || !this.methods.includes(context.method)) return context.reject([...this.methods]);
    if (context.method === 'publickey') return this.answerKey(context);
    if (context.method === 'password') return this.answerPassword(context, context.password);
    if (context.method === 'keyboard-interactive') return this.askPassword(context);
    return this.refuse(context);
  }

  private answerKey(context: PublicKeyAuthContext): void {
    const user = loginName(context.username);
    const key = this.router
      .userKeys(user)
      .map((line) => ssh2.utils.parseKey(line))
      .find((known) => !(known instanceof Error) && known.getPublicSSH().equals(context.key.data));
    if (key === undefined || key instanceof Error) return this.refuse(context);
    // Without a signature the client only asks whether this key would do.
    if (context.signature === undefined) return context.accept();
    // An algorithm unknown to the key makes verify return an error, whatever its type says.
    const proven: unknown = context.blob !== undefined && key.verify(context.blob, context.signature, context.hashAlgo);
    if (proven !== true || this.router.loggedIn(user, { via: 'ssh', address: this.address }) === undefined) return this.refuse(context);
    this.succeed(context, user);
  }

  private askPassword(context: KeyboardAuthContext): void {
    context.prompt([{ prompt: 'Password:', echo: false }], (answers: unknown) => {
      // An aborted prompt calls back with an error in place of the answers.
      if (Array.isArray(answers)) this.answerPassword(context, String(answers[0] ?? ''));
    });
  }

  /** A user with a key may not use a password, unless `/ip/ssh` says otherwise. */
  private answerPassword(context: AuthContext, password: string): void {
    const user = loginName(context.username);
    const allowed = this.router.sshSettings.passwordWithKey || this.router.userKeys(user).length === 0;
    const from = { via: 'ssh', address: this.address } as const;
    if (!allowed || this.router.authenticate(user, password, from) === undefined) return this.refuse(context);
    this.succeed(context, user);
  }

  private succeed(context: AuthContext, user: string): void {
    this.onLogin(user, /\+((?:[a-z]|\d+[a-z])*)$/.exec(context.username)?.[1] ?? '');
    context.accept();
  }

  private refuse(context: AuthContext): void {
    this.failures += 1;
    if (this.failures > maxFailures) this.hangUp();
    else context.reject([...this.methods]);
  }
}

/** `admin+cet512w` logs in as `admin`: the rest describes the terminal. */
export function loginName(name: string): string {
  return name.replace(/\+(?:[a-z]|\d+[a-z])*$/, '');
}
