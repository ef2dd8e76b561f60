/** Browsers give the functions that signing in needs only to pages from https or from this machine. */
export function NeedsHttps() {
  return (
    <main className="notice">
      <h1>Open this page by https</h1>
      <p>
        Your browser does not let a page from <b>{location.origin}</b> sign you in, because the connection is not encrypted.
      </p>
      <p>
        Give the control plane a certificate (<code>SIGNALBOX_TLS_CERT_FILE</code>) or put it behind a reverse proxy with one. On the
        machine itself, <code>http://localhost</code> works, too. The command line and the API work from here.
      </p>
    </main>
  );
}
