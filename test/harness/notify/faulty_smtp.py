"""A mail server with faults, by Debian's python3-aiosmtpd. The recipient's local part names the fault. It prints what it has accepted."""

import asyncio
import json
import sys

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword


class Faults:
    def __init__(self):
        self.seen = set()

    async def handle_MAIL(self, server, session, envelope, address, options):
        if address.startswith("refused@"):
            return "553 5.7.1 Sender address rejected: not owned by user"
        envelope.mail_from = address
        return "250 OK"

    async def handle_RCPT(self, server, session, envelope, address, options):
        fault = address.split("@")[0]
        replies = {
            "r421": "421 4.3.2 Service shutting down",
            "r450": "450 4.2.1 Mailbox busy",
            "r550": "550 5.1.1 No such user here",
            "r550-plain": "550 no such user",
            "r550-policy": "550 5.7.1 Relay access denied",
            "r552": "552 5.2.2 Mailbox full",
        }
        if fault == "r451" and address not in self.seen:
            self.seen.add(address)
            return "451 4.7.1 Greylisted, try again later"
        if fault in replies:
            return replies[fault]
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        fault = envelope.rcpt_tos[0].split("@")[0]
        message = {"to": envelope.rcpt_tos, "data": envelope.content.decode("utf8", "replace")}
        print(json.dumps(message), flush=True)
        if fault == "silent":
            await asyncio.sleep(3600)
        if fault == "dropped":
            server.transport.abort()
            return "250 lost"
        if fault == "d552":
            return "552 5.3.4 Message too big for system"
        if fault == "d451":
            return "451 4.3.0 Local error in processing"
        return "250 OK"


def authenticator(server, session, envelope, mechanism, auth_data):
    good = isinstance(auth_data, LoginPassword) and auth_data.password == b"right password"
    return AuthResult(success=good, handled=False)


class Server(Controller):
    def factory(self):
        with_login = "--login" in sys.argv
        return SMTP(
            self.handler,
            authenticator=authenticator,
            auth_require_tls=False,
            auth_required=with_login,
            auth_exclude_mechanism=[] if with_login else ["LOGIN", "PLAIN"],
        )


Server(Faults(), hostname="127.0.0.1", port=int(sys.argv[1])).start()
print(json.dumps({"ready": True}), flush=True)
sys.stdin.read()
