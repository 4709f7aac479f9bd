"""A mail server on this machine."""

import socketserver


class SmtpSession(socketserver.StreamRequestHandler):
    """As much of SMTP (RFC 5321, AUTH PLAIN of RFC 4954) as a client needs to hand in a mail."""

    server: "SmtpServer"

    def handle(self) -> None:
        self._say("220 mail.example ESMTP")
        for line in self.rfile:
            verb, _, rest = line.decode().strip().partition(" ")
            match verb.upper():
                case "EHLO":
                    self._say("250-mail.example", "250 AUTH PLAIN")
                case "AUTH":
                    self.server.signed_in.append(rest)
                    self._say("535 5.7.8 refused" if self.server.refuses_users else "235 welcome")
                case "DATA":
                    self._say("354 go ahead")
                    self.server.received.append(b"".join(iter(self.rfile.readline, b".\r\n")))
                    self._say("250 kept")
                case "QUIT":
                    return self._say("221 bye")
                case _:
                    self._say("250 fine")
        return None

    def _say(self, *lines: str) -> None:
        self.wfile.write("".join(f"{line}\r\n" for line in lines).encode())


class SmtpServer(socketserver.ThreadingTCPServer):
    """A mail server on this machine that keeps what it receives."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), SmtpSession)
        self.received: list[bytes] = []
        self.signed_in: list[str] = []
        self.refuses_users = False
