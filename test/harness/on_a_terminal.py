"""Runs a program on a terminal of its own. Lines on standard input: `size ROWS COLUMNS`, `keys TEXT` (JSON), `kill`, `settings`.
What the program prints goes to standard output as JSON lines; `settings` prints those of the terminal."""
import fcntl, json, os, pty, select, struct, sys, termios

def say(**words):
    print(json.dumps(words), flush=True)

def resize(rows, columns):
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))

def settings():
    return [part if isinstance(part, int) else [str(each) for each in part] for part in termios.tcgetattr(slave)]

master, slave = pty.openpty()
resize(int(sys.argv[1]), int(sys.argv[2]))
pid = os.fork()
if pid == 0:
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    for number in (0, 1, 2):
        os.dup2(slave, number)
    os.close(master)
    os.execvp(sys.argv[3], sys.argv[3:])
say(settings=settings())
waiting = b''
text = b''
while True:
    ready, _, _ = select.select([master, 0], [], [], 0.2)
    if master in ready:
        text += os.read(master, 65536)
        try:
            say(output=text.decode())
            text = b''
        except UnicodeDecodeError:
            pass
    if 0 in ready:
        read = os.read(0, 65536)
        if read == b'':
            os.kill(pid, 9)
            sys.exit(1)
        waiting += read
        *lines, waiting = waiting.split(b'\n')
        for line in lines:
            word, _, rest = line.decode().partition(' ')
            if word == 'size':
                resize(*map(int, rest.split()))
            elif word == 'keys':
                os.write(master, json.loads(rest).encode())
            elif word == 'kill':
                os.kill(pid, 9)
            elif word == 'settings':
                say(settings=settings())
    done, status = os.waitpid(pid, os.WNOHANG)
    if done == pid and not ready:
        say(settings=settings(), code=os.waitstatus_to_exitcode(status))
        break
    if done == pid:
        # Read what is left first.
        left = select.select([master], [], [], 0.2)[0]
        if left:
            text += os.read(master, 65536)
        say(output=text.decode(errors='replace'))
        say(settings=settings(), code=os.waitstatus_to_exitcode(status))
        break
