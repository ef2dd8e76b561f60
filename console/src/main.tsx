import './trusted-types.ts';
import 'inter-ui/inter-variable-latin.css';
import './look/tokens.css';
import './look/base.css';
import './look/frame.css';
import './look/parts.css';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { Session } from './session/session.ts';
import { followSystemTheme } from './look/theme.ts';
import { NeedsHttps } from './session/needs-https.tsx';

followSystemTheme();
const root = createRoot(document.getElementById('root')!);
// Without it there is no PKCE, no clipboard and no locks: better one clear sentence than pages that fail one by one.
if (window.isSecureContext) root.render(<App session={new Session()} />);
else root.render(<NeedsHttps />);
