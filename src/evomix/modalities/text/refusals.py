"""Answers in which a model declines, instead of the text that was asked for.

A rule needs the first person, an inability and what is declined (the request, the answer, the text), because people
write "I cannot praise the staff enough" and "I'm sorry to say the soup was cold".
"""

import re
from typing import Final

_READ: Final = 400
"""Characters of an answer that are read: a refusal says so at once."""

_CANNOT: Final = (
    r"(?:can(?:not|'t| not)|could(?:n't| not)|won't|will not|am not able to|'m not able to|am unable to|'m unable to|"
    r"(?:am|'m) not (?:comfortable|allowed|permitted|authorized|programmed|designed)(?: with| to)?|must decline to|"
    r"do(?:n't| not) have the (?:ability|capability) to|(?:have|need) to decline to)"
)
_DO: Final = (
    r"(?:assist|help|fulfil?l?|comply|complete|provide|write|generat\w*|creat\w*|produc\w*|answer|respond|discuss|"
    r"engag\w*|rephras\w*|rewrit\w*|paraphras\w*|participate|continue|do|provid\w*|writ\w*|process|accommodate|"
    r"support|share)"
)
_THAT: Final = (
    r"(?:this|that|it|your|such|any|the|these|those|a|an|with|to|on|in|further|you|more)(?: \w+){0,6}?"
    r" ?(?:request\w*|content|question\w*|prompt|task|instruction\w*|topic|query|conversation|responses?|rewrite|"
    r"rephras\w*|paraphras\w*|information about|type of|kind of|sort of|personal (?:data|information)|medical advice)\b"
)
_BARE: Final = (
    r"(?:you )?(?:with |to |in )?(?:this|that|it)?(?: one)?(?: here)?(?: for you)?"
    r"(?:,? sorry| at this time| today)? ?(?:[.!;]|,? (?:but|as|because|since)\b|$)"
)
_MATERIAL: Final = r"(?: \w+){0,4}? ?(?:text|review|details|context|information|message|input|passage|sentence)\b"
_AI: Final = r"(?:ai|artificial intelligence|large language model|language model)"
_PEOPLE: Final = r"(?: (?:engineer|researcher|student|developer|expert|enthusiast|scientist|consultant))"
_ENGLISH: Final = (
    # "I'm sorry, but I can't help with that request."
    (
        r"(?:^|[.!?,;:\n] ?|\b(?:but|sorry|unfortunately|afraid) )\W*(?:but |so |and )?i(?: |')?"
        rf"(?:(?:am |'m )afraid (?:that )?i )?{_CANNOT} (?:\w+ly )?{_DO} (?:{_BARE}|{_THAT})"
    ),
    # "As an AI language model, I do not have …", "I am only an AI"
    (
        rf"\bas an? (?:\w+ )?{_AI}(?: language)?(?: model| assistant| system| chatbot| program| tool)?"
        r"(?:,| and| i\b)(?: \w+){0,8}? ?(?:i\b|(?:my|me)\b|(?:is|am) not)"
    ),
    r"\bas an? (?:ai|large)? ?language model\b",
    rf"\bi(?: am|'m) (?:just |only |merely |simply )?an? {_AI}\b(?!{_PEOPLE})",
    # "I'm sorry for the confusion", "Please provide the text"
    (
        r"^\W*(?:i'?m |i am )?(?:so |very |really )?sorry,? (?:but )?"
        r"(?:for (?:the|any) confusion|i (?:do not|don't|didn't|did not) (?:quite )?understand"
        r"|there (?:is|was) no|you (?:did not|didn't|have not|haven't) (?:provided?|given?))"
    ),
    (
        r"^\W*(?:could|can|would) you (?:please )?(?:provide|clarify|share|give) (?:me )?(?:with )?"
        rf"(?:the|more|some|a|your|what){_MATERIAL}"
    ),
    rf"^\W*please (?:provide|share|give me|paste)(?: me)?(?: with)? (?:the|more|some|a|your){_MATERIAL}",
    # "This request goes against my guidelines."
    r"\b(?:this|that|your|the) (?:request|content|prompt) (?:goes against|(?:may )?violates?|is inappropriate)",
    r"\bagainst my (?:guidelines|programming|policy|policies)\b",
    r"\bmy (?:guidelines|programming|training) (?:prevents?|does(?:n't| not) allow|do(?:n't| not) allow|prohibits?)",
)
_OTHERS: Final = tuple(
    rf"^\W*(?:{sorry}){between}(?:{declined})"
    for sorry, between, declined in (
        (
            r"lo siento|lo lamento|disculpa",
            r"\b.{0,40}\bno (?:puedo|me es posible)\b.{0,12}\b",
            r"ayudar|cumplir|proporcionar|escribir|generar|responder|asistir",
        ),
        (
            r"je suis désolée?|désolée?|je regrette",
            r"\b.{0,40}\bje ne (?:peux|suis)\b.{0,30}\b",
            r"aider|répondre|fournir|écrire|générer|demande",
        ),
        (
            r"es tut mir leid|tut mir leid|entschuldigung",
            r"\b.{0,30}\bich\b.{0,60}\bnicht\b.{0,30}\b",
            r"helfen|beantworten|erfüllen|schreiben|erstellen|nachkommen",
        ),
        (
            r"desculpe|sinto muito|lamento",
            r"\b.{0,40}\bnão (?:posso|consigo)\b.{0,12}\b",
            r"ajudar|atender|fornecer|escrever|gerar|responder",
        ),
        (
            r"mi dispiace|spiacente",
            r"\b.{0,30}\bnon posso\b.{0,12}\b",
            r"aiutar|fornire|scrivere|soddisfare|rispondere|generare",
        ),
        (
            r"к сожалению|извините|простите",
            r".{0,30}\bя не могу\b.{0,12}\b",
            r"помочь|выполнить|ответить|написать|предоставить",
        ),
        (r"抱歉|对不起|對不起|很抱歉|非常抱歉|作为一个?(?:ai|人工智能)", r".{0,20}", r"无法|不能|無法|没有办法"),
        (r"申し訳|すみません|ごめんなさい", r".{0,40}", r"できません|いたしかねます|お手伝い"),
        (r"죄송합니다|죄송하지만|미안하지만", r".{0,40}", r"수 없|없습니다|어렵습니다"),
        (r"عذرا|عذرًا|آسف|أعتذر", r".{0,30}", r"لا أستطيع|لا يمكنني|لن أتمكن"),
    )
)
_REFUSAL: Final = re.compile("|".join(f"(?:{rule})" for rule in (*_ENGLISH, *_OTHERS)), re.IGNORECASE | re.DOTALL)
_APOSTROPHES: Final = str.maketrans({"’": "'", "‘": "'", "ʼ": "'", "`": "'"})


def declines(text: str) -> bool:
    """Return whether an answer declines, or asks back, instead of giving a text.

    >>> declines("I’m sorry, I can’t assist with that."), declines("I'm sorry to say the soup was cold.")
    (True, False)
    """
    return _REFUSAL.search(text[:_READ].translate(_APOSTROPHES)) is not None
