import '@xterm/xterm/css/xterm.css';
import './terminal.css';
import { FitAddon } from '@xterm/addon-fit';
import { Terminal } from '@xterm/xterm';
import { Attachment } from './attachment.ts';
import type { FromTerminal, ToTerminal } from './messages.ts';

/**
 * The document of a terminal, in a frame of the page: xterm writes style elements, which the page's own policy forbids. It has no access
 * token, only tickets.
 */
const screen = new Terminal({
  cursorBlink: true,
  fontFamily: 'monospace',
  fontSize: 13,
  scrollback: 5000,
  theme: { background: '#10151b' },
});
const fit = new FitAddon();
screen.loadAddon(fit);
screen.open(document.getElementById('screen')!);

/** A recording has the size that it was made with. */
let isLive = false;
const attachment = new Attachment(screen, say);

window.addEventListener('message', (event: MessageEvent<ToTerminal>) => {
  if (event.source === parent && event.origin === location.origin) hear(event.data);
});
new ResizeObserver(() => {
  if (isLive) fit.fit();
}).observe(document.getElementById('screen')!);
screen.onResize(({ cols, rows }) => attachment.resize(cols, rows));

// Several lines are shown before they are typed: the router would run all but the last at once.
document.addEventListener('paste', onPaste, true);
// Every other key belongs to the router.
screen.attachCustomKeyEventHandler((event) => {
  const leaves = event.key === 'F6' && event.ctrlKey;
  if (leaves && event.type === 'keydown') say({ kind: 'leave' });
  return !leaves;
});
say({ kind: 'ready' });

function hear(message: ToTerminal): void {
  switch (message.kind) {
    case 'attach':
      isLive = true;
      fit.fit();
      attachment.begin(message.path, message.ticket);
      screen.focus();
      return;
    case 'paste':
      screen.paste(message.text);
      screen.focus();
      return;
    case 'keys':
      screen.input(message.text);
      screen.focus();
      return;
    case 'focus':
      screen.focus();
      return;
    case 'show':
      screen.write(message.text);
      return;
    case 'size':
      screen.resize(message.cols, message.rows);
      return;
    case 'clear':
      screen.reset();
      screen.resize(message.cols, message.rows);
      return;
  }
}

function onPaste(event: ClipboardEvent): void {
  const text = event.clipboardData?.getData('text/plain') ?? '';
  if (!/[\r\n]/.test(text.replace(/\r?\n$/, '')) && !/[\r\n]/.test(text)) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  say({ kind: 'lines', text });
}

function say(message: FromTerminal): void {
  parent.postMessage(message, location.origin);
}
