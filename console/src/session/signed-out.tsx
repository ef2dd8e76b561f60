/** Where signing out ends. Nothing is read here, so nobody is sent to sign in before they ask for it. */
export function SignedOut() {
  return (
    <main className="notice">
      <title>Signed out – Signalbox</title>
      <h1>You are signed out</h1>
      <p>This browser shows nothing of your team any more. Forwards, jobs and campaigns of yours go on.</p>
      <a href="/" className="btn main-act">
        Sign in again
      </a>
    </main>
  );
}
