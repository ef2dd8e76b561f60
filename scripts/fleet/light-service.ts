import { Duplex } from 'node:stream';

const PAGE = '<!doctype html><title>Virtual device</title><p>A device of the simulated fleet.\n';
const ANSWER = `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: ${PAGE.length}\r\n\r\n${PAGE}`;

/** What a forward of a simulated router leads to: a web server with one page, which stays open until its client ends. */
export function virtualService(): Duplex {
  return new Duplex({
    read() {},
    write(_chunk, _encoding, done) {
      this.push(ANSWER);
      done();
    },
    final(done) {
      this.push(null);
      done();
    },
  });
}
