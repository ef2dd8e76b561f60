import type { Command } from './command.ts';
import { COMMON } from './parse.ts';

/**
 * Completion of commands and options, but not of router names: each press of the Tab key would then cost a request that
 * counts towards the rate limit.
 */

/** The words that may follow the beginning of a command line. */
interface Completion {
  /** The words so far: '' at the beginning, `forward`, `forward open`. */
  after: string;
  /** Next words of command names, then options. */
  words: string[];
}

const WRITERS: Readonly<Record<string, (completions: readonly Completion[]) => string>> = { bash, zsh, fish };

/** @returns undefined for an unknown shell */
export function completionScript(shell: string, commands: readonly Command[]): string | undefined {
  return Object.hasOwn(WRITERS, shell) ? WRITERS[shell]!(completionsOf(commands)) : undefined;
}

export function completionsOf(commands: readonly Command[]): Completion[] {
  const words = new Map<string, Set<string>>();
  const add = (after: string, word: string): void => void words.set(after, (words.get(after) ?? new Set()).add(word));
  for (const { name, options } of commands) {
    const parts = name.split(' ');
    parts.forEach((part, index) => add(parts.slice(0, index).join(' '), part));
    for (const option of Object.keys({ ...options, ...COMMON })) add(name, `--${option}`);
  }
  return [...words].map(([after, next]) => ({ after, words: [...next] }));
}

/** Cases for bash and zsh: the longest known beginning of the line decides which words may follow. */
function cases(completions: readonly Completion[], indent: string): string {
  return completions.map(({ after, words }) => `${indent}"${after}") words="${words.join(' ')}" ;;\n`).join('');
}

function bash(completions: readonly Completion[]): string {
  return `# Load with: source <(signalbox completion bash)
_signalbox() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words="" after="\${COMP_WORDS[*]:1:2}"
  [ "$COMP_CWORD" -le 2 ] && after="\${COMP_WORDS[*]:1:COMP_CWORD-1}"
  while :; do
    case "$after" in
${cases(completions, '      ')}    esac
    [ -n "$words" ] && break
    case "$after" in *" "*) after="\${after% *}" ;; *) break ;; esac
  done
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _signalbox signalbox
`;
}

function zsh(completions: readonly Completion[]): string {
  return `#compdef signalbox
# Load with: source <(signalbox completion zsh)
_signalbox() {
  local after="" choices="" last=$((CURRENT - 1))
  (( last > 3 )) && last=3
  (( last >= 2 )) && after="\${words[2,last]}"
  while true; do
    case "$after" in
${cases(completions, '      ').replaceAll(' words="', ' choices="')}    esac
    [[ -n "$choices" ]] && break
    [[ "$after" == *" "* ]] || break
    after="\${after% *}"
  done
  compadd -- \${=choices}
  _files
}
compdef _signalbox signalbox
`;
}

function fish(completions: readonly Completion[]): string {
  const lines = completions.flatMap(({ after, words }) => words.map((word) => fishLine(after, word)));
  return `# Load with: signalbox completion fish | source
function __signalbox_after
  set -l words (commandline -opc)
  set -e words[1]
  set -l depth (count $argv)
  if test $depth -eq 0
    test (count $words) -eq 0
    return
  end
  test (count $words) -ge $depth; and test "$words[1..$depth]" = "$argv"
end
${lines.join('')}`;
}

function fishLine(after: string, word: string): string {
  const condition = `-n '__signalbox_after ${after}'`;
  return word.startsWith('--')
    ? `complete -c signalbox ${condition} -l ${word.slice(2)}\n`
    : `complete -c signalbox ${condition} -a ${word}\n`;
}
