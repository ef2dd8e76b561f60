import './trusted-types.ts';
import 'inter-ui/inter-variable-latin.css';
import './look/tokens.css';
import './look/base.css';
import './look/frame.css';
import './look/parts.css';
import './look/print.css';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { Session, tellSignedOut } from './session/session.ts';
import { SignedOut } from './session/signed-out.tsx';
import { followTheme } from './look/theme.ts';
import { NeedsHttps } from './session/needs-https.tsx';
import { Look, nonce } from './look/look.tsx';

// react-remove-scroll, below Mantine's dialogs, takes the nonce of its style element from here.
(globalThis as { __webpack_nonce__?: string }).__webpack_nonce__ = nonce;

followTheme();
const root = createRoot(document.getElementById('root')!);
// Without it there is no PKCE, no clipboard and no locks: better one clear sentence than pages that fail one by one.
const isSignedOut = location.pathname === '/signed-out';
if (isSignedOut) tellSignedOut();
if (window.isSecureContext) root.render(<Look>{isSignedOut ? <SignedOut /> : <App session={new Session()} />}</Look>);
else root.render(<NeedsHttps />);
