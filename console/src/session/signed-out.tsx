import { words } from './words.ts';

/** Where a sign-in ends that the person has cancelled, or that was refused. */
export function NotSignedIn({ why }: { why: string }) {
  return (
    <main className="notice">
      <title>{words.notSignedIn.tab}</title>
      <h1>{words.notSignedIn.title}</h1>
      <p>{words.notSignedIn.why(why)}</p>
      <a href="/" className="btn main-act">
        {words.notSignedIn.signIn}
      </a>
    </main>
  );
}

/** Where signing out ends. Nothing is read here, so nobody is sent to sign in before they ask for it. */
export function SignedOut() {
  return (
    <main className="notice">
      <title>{words.signedOut.tab}</title>
      <h1>{words.signedOut.title}</h1>
      <p>{words.signedOut.what}</p>
      <a href="/" className="btn main-act">
        {words.signedOut.again}
      </a>
    </main>
  );
}
