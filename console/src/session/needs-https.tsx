import { fill } from '../parts/fill.tsx';
import { words } from './words.ts';

/** Browsers give the functions that signing in needs only to pages from https or from this machine. */
export function NeedsHttps() {
  return (
    <main className="notice">
      <h1>{words.needsHttps.title}</h1>
      <p>{fill(words.needsHttps.why, { origin: <b>{location.origin}</b> })}</p>
      <p>{fill(words.needsHttps.remedy, { variable: <code>SIGNALBOX_TLS_CERT_FILE</code>, address: <code>http://localhost</code> })}</p>
    </main>
  );
}
