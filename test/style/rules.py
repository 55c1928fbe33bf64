# Part of Quern, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The rules of the style lint that are regular expressions, with the advice that a report prints."""

import collections
import re

COMMENT, STRING, TITLE, DOC, TEST, HEADING = "comment", "string", "title", "doc", "test", "heading"
ALL = {COMMENT, STRING, TITLE, DOC, TEST, HEADING}
PROSE = {COMMENT, TITLE, DOC, TEST}
CODE = {COMMENT, TITLE, TEST}

BRITISH = (
    r"behaviour|colour|neighbour|favour|honour|labour|centre[ds]?\b|licen[c]e|artefact|judgement|catalogue|grey\b|"
    r"fulfil\b|modell(?:ed|ing)|cancell(?:ed|ing)|labell(?:ed|ing)|signall(?:ed|ing)|travell|whilst|analys(?:ed|ing)\b|"
    r"(?:special|vector|optim|initial|recogn|normal|quant|serial|material|summar|parallel|linear|general|minim|maxim|"
    r"util|organ|canonical|token|author|synchron|custom|final|real|emphas)is(?:e|ed|es|er|ers|ing|able|ation|ations)\b"
)

Rule = collections.namedtuple("Rule", "name regex kinds advice unless")
RULES = []


def rule(name, regex, kinds, advice, flags=re.I, unless=None):
    """`unless`: no hit where this matches within some words around it."""
    RULES.append(Rule(name, re.compile(regex, flags), kinds, advice, unless and re.compile(unless)))


# Openings: a comment, paragraph or table cell (^), or a sentence within one.
rule("open-of", r"^of\b(?! course)", PROSE, "start with a verb or a noun: 'Returns ...', 'The ...', a unit: 'in bytes'")
rule(
    "sentence-of",
    r"(?<=[.!?:;]\s)of\b(?! (?:course|these|those|the (?:other|others|remaining)\b|(?:the )?\d|about))"
    r"(?![^.;]{0,90}(?:\d %|\b\d[\d,]* (?:of|in|have|were|are)\b|\bone in\b))",
    PROSE,
    "put the subject first: 'In a blocked layout, ...', 'For f32, ...'",
)
rule(
    "open-what",
    r"^(?:what|who|whose|whom|whoever|whatever|whichever)\b(?![^.]*\?)",
    CODE | {DOC},
    "name the thing: 'Operations that ...'",
)
rule("sentence-what", r"(?<=[.!?;]\s)What\b(?![^.]*\?)", PROSE, "name the thing: 'The value that ...'", 0)
rule(
    "headless-what",
    r"(?<!because )(?<!matter )(?<!regardless )\b(?:of|for|from|by|to|with|than|beside|behind) what(?:ever)?\b(?!"
    r" (?:to|extent|kind|order|size|type)\b)",
    PROSE,
    "use a noun: 'from the bytes that ...'",
)
rule(
    "open-where",
    r"^(?:how (?:many|much|often|far|long)\b|(?:where|when)\b(?![^.;]*, ))(?![^.]*\?)",
    CODE,
    "name the value: 'Address of ...', 'Number of ...'",
)
rule(
    "open-likewise",
    r"^(?:likewise\b|the same\b(?=\.|,| (?:of|with|for|in|on|at)\b)|the like\b)",
    {COMMENT, TITLE},
    "say what it does, or 'Like f(), but ...'",
)
rule(
    "open-as",
    r"^As (?!(?:a|an|the|in|for|of|on)\b|soon|long|many|much|few|far|well|stored|compiled|parsed|given|written)\S+",
    CODE,
    "'Like f(), but ...', 'See f().'",
    0,
)
rule(
    "follows-noun",
    r"\b(?:what|all that|everything that) follows\b",
    ALL,
    "'the fields below', 'the following', 'the rest'",
)
rule("one-wants", r"\bone wants\b", ALL, "'Checks that ...'")
# Negations.
rule(
    "is-no",
    r"(?<!there )\b(?:is|are|was|were|be|being|been) no\b(?!"
    r" (?:longer|more|less|fewer|larger|greater|smaller|wider|later|need|"
    r"sooner|better|worse|slower|faster|older|different)\b)(?=\s\w)",
    ALL,
    "'is not a(n) ...'",
)
rule(
    "is-none",
    r"(?<!there )(?<!there may )(?<!there will )(?<!there can )\b(?:is|are|was|were|be) none\b(?! of"
    r" (?:the|them|these)\b)",
    ALL,
    "'is not one', 'does not exist'",
    0,
)
rule(
    "has-not",
    r"\b(?:has|have|had) not(?= (?:the|a|an|its|their|all|any|that|this)\b|(?:[.,;:)]|$))",
    ALL,
    "'does not have'",
    unless=(
        r"must have|have met|has to be|have begun|(?:has|have) and|(?:run|one|task) (?:that )?has not|and these have"
        r" not|another one has"
    ),
)
# Words.
rule("beside", r"(?<![-`_\w])beside(?![-`_\w])", ALL, "'next to', 'in addition to', 'compared with', 'alongside'")
rule(
    "apart",
    r"\bapart\b(?! from)",
    ALL,
    "'separate(ly)', 'not contiguous', 'decompose', 'excluded'",
    unless=(
        r"\b[Tt](?:ell|ells|old)\b.{0,40}apart|"
        r"(?:far|further|about|so|bytes|elements|page|pages|banks|MiB|lines|words|steps|\xa7|\d|[a-z][A-Z]\w+|"
        r"stride|step|\)) apart"
    ),
)
rule(
    "of-own",
    r"\bof (?:its|their|his|one's|our|your) own\b",
    ALL,
    "'its own X', 'a separate X', 'a dedicated X'",
    unless=r"(?:in place|instead|none|any) of (?:its|their) own",
)
OWNERS = (
    r"caller|program|library|embedder|user|process|system|machine|problem|execution|function|stream|runtime|upstream|"
    r"LLVM|MLIR|NEON|SVE|oneDNN|oneTBB|PyTorch|Python|Quern|JAX|XLA|NumPy|gdb|Redis|AArch64|Arm|TOSA|StableHLO"
)
rule(
    "of-callers",
    r"(?<!place )\bof (?:the |a |an )?(?:"
    + OWNERS
    + r")'s(?=[.,;:)\]]|$| (?:and|or|which|that|for|in|on|to|until|with|at|by|as|is|are|must|may)\b)",
    ALL,
    "'a caller-owned buffer', 'NEON's f()'",
)
rule(
    "side-by-side",
    r"\bside by side\b(?<!installed side by side)(?<!machine side by side)(?<!stages side by side)",
    ALL,
    "'contiguous', 'adjacent', 'in parallel'",
)
rule("to-be-had", r"\b(?:is|are|be|was|were|being) had\b", ALL, "'computed', 'obtained', 'available'")
rule(
    "asks-for",
    r"\b(?:ask|asks|asked|asking) for\b(?! (?:a second|a while|two|four)\b)",
    ALL,
    "'requests', 'requires', 'prefetches'",
)
rule(
    "tells",
    r"(?<!can )(?<!no )(?<!hard to )\b(?:tells?|telling|told)\b(?! to\b)(?![^.;]{0,40}\bapart\b)",
    ALL,
    "'reports', 'notifies', 'determines', 'specifies', 'distinguishes'",
)
rule(
    "archaic",
    r"\b(?:dear|dearer|lately|seldom|anew|thereby|wherefrom|thereof|whereof)\b",
    ALL,
    "'expensive', 'recently', 'rarely', 'again'",
)
rule(
    "set-phrase",
    r"\b(?:(?:in vain|for good|for ever|as ever|be it|at one go|by the way|here and there|in the"
    r" open|(?:'s|its|whose|their) matter)\b|"
    r"besides(?=[.,;:)]|$))",
    ALL,
    "'without success', 'permanently', 'as before', 'in one pass', 'scattered'",
)
rule(
    "behind",
    r"\bbehind\b(?! (?:the |a |its )?(?:C |signing |reverse"
    r" )?(?:handles?|proxy|API|user|page|scenes|interface|caller)\b)",
    ALL,
    "'after', 'following', 'past the end of'",
)
rule("in-front", r"\bin front\b", ALL, "'before'")
rule("but-for", r"\bbut for\b|\bbut that (?:a|an|the|with|it|of)\b", ALL, "'except (for)', 'except that'")
rule("follow-each-other", r"\bfollows? (?:each other|one another)\b", ALL, "'are consecutive', 'run one after another'")
rule("goes-on", r"\b(?:go|goes|went|going|gone) on\b", ALL, "'continues'")
rule(
    "light-verb",
    r"\b(?:not|is|are|was|were|be) looked at\b|\b(?:is|are) let (?:pass|go)\b|\blets? go of\b|\bpass(?:es|ed)"
    r" over\b|\b(?:sees?|saw|to see) to\b|"
    r"\banswers for\b|\bcomes? about\b|\bgiven? (?:up for a while|back)\b|\bgives? back\b|\bmakes? use of\b|\bhas to do"
    r" with\b",
    ALL,
    "'is ignored', 'is accepted', 'releases', 'skips', 'ensures', 'returns'",
)
rule(
    "past-caches",
    r"\bpast the caches?\b|\bpass(?:es)? the caches?\b",
    ALL,
    "'non-temporal stores', 'bypasses the caches'",
)
rule(
    "turn",
    r"(?<!in )\b(?:a|each|per|one|every|whole|last|first) turns?\b(?! (?:it|them|out|into|lane|a|the)\b)|\bturns? of"
    r" (?:a|the|that|all|so|one)\b|"
    r"\b(?:by|in) turns\b|\bturned over\b|\bhow often (?:each|innermost loops|a \w+|loops) turns?\b",
    ALL,
    "'iteration', 'trip', 'alternately', 'transposed'",
)
rule(
    "so-many",
    r"\bso (?:many|much|few)\b(?! (?:as|that|less|more|faster|slower)\b)(?![^.;]{0,80}\bthat\b)|"
    r"(?<!half )(?<!twice )(?<!times )(?<!third )\bas many\b(?![^.;]{0,80}\bas\b)|\bsuch as"
    r" (?:are|is|have|has|were|they|leave)\b|\bsuch of\b",
    ALL,
    "'this many', 'N ...', 'those that'",
)
rule(
    "is-there",
    r"\b(?:is|are|was|were) there\b(?=[.,;:)]|$| (?:yet|already|anyway|and|or|too|then|now)\b)",
    ALL,
    "'exists', 'is available', 'is present'",
)
rule(
    "nobody",
    r"\b(?:whoever|somebody|anybody)\b|\bnobody"
    r" (?:wants|asks|waits|reads|works|computes|knows|sees|had|holds|owns|looks|is|who|else|says|here)\b",
    CODE | {STRING},
    "name the thread, process, caller or host",
    unless=r"by nobody else|nobody else does|nobody here can",
)
rule(
    "private-word",
    r"\b(?:curved|heirs?|heirOf|jam(?:s|med|ming)?(?! of)|in hand|(?:the |a |first |no )questions?)\b",
    ALL,
    "the glossary has the term",
)
rule("said-of", r"\b(?:says?|said|asked) (?:nothing |more |no more |only |as much )?of\b", ALL, "'about'")
rule("american", BRITISH, ALL, "American spelling")

FIXED = {
    "are-name": "isX(), allX() or noneX(): 'are' only of two arguments",
    "see-header": "delete it, or describe this file",
    "missing-file": "correct the name",
    "missing-path": "correct the path",
    "undocumented": "document the public function",
    "long-line": "wrap prose at 120 columns",
}
