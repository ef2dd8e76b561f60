import { promisify } from 'node:util';
import zlib from 'node:zlib';
import type { App } from './app-type.ts';

/** Shorter answers fit into one packet anyway. */
const LEAST_CHARS = 1024;
/** Brotli's default of 11 is for files that are compressed once: 4 is as fast as gzip and smaller. */
const BROTLI_QUALITY = 4;

const brotli = promisify(zlib.brotliCompress);
const gzip = promisify(zlib.gzip);

type Coding = 'br' | 'gzip';

/**
 * Compresses longer JSON answers for callers who ask for it, in other threads. Not those of routes with `secretAnswer`: the length of an answer
 * that contains a secret beside attacker-chosen text can reveal the secret (BREACH). Must be registered after every hook that
 * reads the answer.
 */
export function compressAnswers(scope: App): void {
  scope.addHook('onSend', async (request, reply, payload) => {
    if (typeof payload !== 'string' || payload.length < LEAST_CHARS || request.routeOptions.config.secretAnswer === true) return payload;
    if (!/^application\/json\b/.test(String(reply.getHeader('content-type')))) return payload;
    const vary = reply.getHeader('vary');
    reply.header('vary', vary === undefined ? 'accept-encoding' : `${String(vary)}, accept-encoding`);
    const coding = codingFor(request.headers['accept-encoding']);
    if (coding === undefined) return payload;
    const params = { [zlib.constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY };
    const bytes = Buffer.from(payload);
    reply.header('content-encoding', coding).removeHeader('content-length');
    return coding === 'br' ? brotli(bytes, { params }) : gzip(bytes);
  });
}

/** The better of the codings that the caller takes; undefined for none of them. */
export function codingFor(header: string | undefined): Coding | undefined {
  const weights = new Map<string, number>();
  for (const part of (header ?? '').toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((text) => text.trim());
    const weight = parameters.find((text) => text.startsWith('q='))?.slice(2);
    weights.set(name, weight === undefined ? 1 : Number(weight));
  }
  const weightOf = (coding: Coding): number => weights.get(coding) ?? weights.get('*') ?? 0;
  const [br, gz] = [weightOf('br'), weightOf('gzip')];
  // An unreadable weight counts as none.
  if (!(br > 0 || gz > 0)) return undefined;
  return br > 0 && !(gz > br) ? 'br' : 'gzip';
}
