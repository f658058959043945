"""What fields are called: the vocabulary by which text, id, score, rank, query and the rest are recognised.

Names are compared without case, spaces, underscores and hyphens: `pageContent`, `page_content` and `Page Content` are
one name.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache


def words(text: str) -> tuple[str, ...]:
    """Take a list of words apart.

    :param text: words with blanks between them.
    :returns: the words.
    """
    return tuple(text.split())


TEXT = words(
    """
    content pagecontent text chunktext passagetext passage chunk body contents document documenttext doctext
    documentcontent chunkcontent contenttext textcontent memory segment segmenttext paragraph paragraphtext context
    sourcetext retrievedtext rawtext plaintext maintext fulltext retrievedcontent nodecontent doc docs snippet
    excerpt inhalt texto texte contenu contenido testo conteudo conteúdo tekst текст содержание 内容 正文 文本 本文
    テキスト 텍스트 내용 본문 metin treść النص innehåll sisältö
    """
)
"""Names of a document's text, the likeliest first."""

ID = words(
    """
    id documentkey chunkid passageid pid docid documentid docno nodeid corpusid psgid segmentid paragraphid vectorid
    recordid contentid textid uuid uid retrievedid docidentifier objectid embeddingid identifiant identificador
    """
)
"""Names of a document's id, the likeliest first."""

RANK = frozenset(
    [
        "rank",
        "ranking",
        "rang",
        "rango",
        "resultrank",
        "rankposition",
        "ranknumber",
        "rankno",
        "排名",
        "順位",
        "순위",
        "ранг",
    ]
)
"""Names of a rank."""

QUERY_ID = frozenset(["qid", "queryid", "questionid", "topicid", "qno", "queryno", "querynumber", "exampleid"])
"""Names of the id of a query."""

QUERY = words(
    """
    query question userinput querytext questiontext searchquery userquery userquestion querystring querystr
    input.value inputvalue originalquery frage anfrage pregunta consulta pergunta domanda requête requete vraag pytanie
    запрос вопрос 问题 查询 問題 質問 질문
    """
)
"""Names of the text of a query, the likeliest first."""

TITLE = frozenset(["title", "heading", "headline", "titel", "titre", "titulo"])
"""Names of a title."""

META = frozenset(("meta", "metadata", "extrainfo", "cmetadata", "langchainmetadata"))
"""Names of an object whose members are the user's own fields."""

SPAN = frozenset(
    ("runtype", "spanid", "spankind", "operationname", "traceid", "tags", "observations", "parentid", "parentrunid")
)
"""Names by which a step of a trace is told."""

EMBEDDING = frozenset(
    words(
        """
    embedding embeddings vector vectors values sparseembedding sparsevector sparsevalues densevector textvector
    contentvector embeddingvector
    """
    )
)
"""Names of a vector."""

RELEVANT = words(
    """
    isgold isrelevant relevant isselected hasanswer qrel qrels relevancelabel relevancelabels relevancegrade judgment
    judgement grade label labels gold
    """
)
"""Names of a mark that says whether a document is relevant, the likeliest first."""

MARKS = frozenset(("true", "false", "0", "1", "2", "3", "4", "yes", "no"))
"""Texts of such a mark; a grade above 0 is relevant."""

WRAPPERS = words(
    """
    document node doc segment chunk passage payload source fields entity properties kwargs item object data content
    text textresource attributes metadata cmetadata record value page embedded
    """
)
"""Names of an object inside a record that holds the document itself, the likeliest first."""

LISTS = frozenset(
    words(
        """
    documents docs ctxs contexts context passages results result hits matches points chunks nodes sourcenodes
    sourcedocuments candidates records data value items rows children objects memories outputs output searchresults
    sources retrievaldocuments retrievalresults retrieveddocuments retrieveddocs retrievedcontexts retrievedcontext
    retrievedcontents retrievedpassages retrievedchunks retrievednodes rerankeddocuments rerankedresults
    retrievedcontextdocs corpus positivectxs negativectxs hardnegativectxs inputdocuments outputdocuments response
    references citations points groups searchhits topk topkdocuments retrieved reranked
    """
    )
)
"""Names of a list of documents."""

TEXT_LISTS = frozenset(
    words(
        """
    documents docs ctxs contexts context passages chunks texts retrievedcontexts retrievedcontext retrievedcontents
    retrieveddocuments retrieveddocs retrievedpassages retrievedchunks sourcedocuments sources contents
    rerankeddocuments retrieved corpus passagetext searchresults
    """
    )
)
"""Names of a list whose items are texts of documents."""

NOT_DOCUMENTS = frozenset(
    words(
        """
    messages replies generations choices captions answers relationships highlights highlight usage tools toolcalls
    groundtruths groundtruth groundtruthcontexts referencecontexts reference referencecontextids prompt prompts sort
    wellformedanswers goldenanswers generationgt retrievalgt logs facets aggregations suggest explanation
    scoredetails matchedqueries shards input.messages llm output.messages inputmessages outputmessages aspects
    embeddings gtanswer answer history chathistory qrels embedding vector vectors
    """
    )
)
"""Names of lists and objects that hold texts which are not documents."""

ANSWERS = frozenset(
    words(
        """
    answer answers response reference groundtruth gtanswer generatedanswer prediction summary url link uri href path
    source file filename author date created updated createdat updatedat lang language type category tags label
    image hash checksum
    """
    )
)
"""Names of text that is never a document's when the names decide nothing."""

_SCORE_EXACT = frozenset(
    words(
        """
    relevance sim cosine logit logits bm25 rrf prob probability confidence certainty similarity bewertung punktzahl
    puntuacion puntuación pontuacao pontuação ähnlichkeit relevanz pertinence punteggio skor wynik оценка 分数 得分
    相似度 スコア 類似度 점수 유사도 textmatch
    """
    )
)
_SCORE_PARTS = ("score", "similarity", "certainty")
_DISTANCE_EXACT = frozenset(["dist", "l2", "l2dist", "cosdist", "distanz", "distancia", "distanza"])
_NUMBERED = re.compile(r"\.\d+(?:\.|\Z)")
_PUNCTUATION = re.compile(r"[\s_\-]+")


@lru_cache(maxsize=8192)
def normalise(name: str) -> str:
    """Bring a name to the form in which names are compared.

    :param name: a key or a column name.
    :returns: the name without case, spaces, underscores and hyphens.
    """
    return _PUNCTUATION.sub("", unicodedata.normalize("NFKC", name)).casefold()


@lru_cache(maxsize=8192)
def last_part(name: str) -> str:
    """Take the last part of a dotted name, normalised.

    :param name: such as `payload.text` or `@search.rerankerScore`.
    :returns: such as `text` or `rerankerscore`; the whole name if it has no dot.
    """
    return normalise(name.rpartition(".")[2] or name)


@lru_cache(maxsize=8192)
def is_distance(name: str) -> bool:
    """Tell a distance by its name.

    :param name: a field's name.
    :returns: whether a lower value is the better one.
    """
    last = last_part(name)
    return "distance" in last or last in _DISTANCE_EXACT


@lru_cache(maxsize=8192)
def is_score(name: str) -> bool:
    """Tell a score by its name.

    :param name: a field's name.
    :returns: whether it is a score or a distance.
    """
    last = last_part(name)
    if last.startswith(("maxscore", "minscore", "numscore")):
        return False
    return last in _SCORE_EXACT or any(part in last for part in _SCORE_PARTS) or is_distance(name)


@lru_cache(maxsize=8192)
def score_preference(name: str) -> int:
    """Rank names of scores, for when several agree with the order of the list.

    :param name: a field's name.
    :returns: lower for the one to take first.
    """
    last = last_part(name)
    if is_distance(name):
        return 5
    if "rerank" in last or "crossencoder" in last:
        return 0
    if last in {"score", "relevancescore", "finalscore", "scores"}:
        return 1
    return 2 if last in {"relevance", "similarity", "similarityscore"} else 3


@lru_cache(maxsize=8192)
def text_preference(name: str) -> int | None:
    """Rank names of a document's text.

    :param name: a field's name.
    :returns: lower for the likelier one, None for a name that is none.
    """
    whole = normalise(name)
    if whole in _TEXT_RANK:
        return _TEXT_RANK[whole]
    prefix = normalise(name.rpartition(".")[0])
    if _NUMBERED.search(name):
        return None  # one item of a flattened list
    if not prefix or last_part(prefix) in NOT_DOCUMENTS or last_part(prefix) in ANSWERS - {"source"}:
        return None
    place = _TEXT_RANK.get(last_part(name))
    return None if place is None else place + len(TEXT)


@lru_cache(maxsize=8192)
def id_preference(name: str) -> int | None:
    """Rank names of a document's id.

    :param name: a field's name.
    :returns: lower for the likelier one, None for a name that is none.
    """
    whole = normalise(name)
    if whole in _ID_RANK:
        return _ID_RANK[whole]
    place = _ID_RANK.get(last_part(name)) if "." in name else None
    return None if place is None else place + len(ID)


def is_known(name: str) -> bool:
    """Tell whether a name is one of a field this package knows.

    :param name: a column name.
    :returns: whether it names a text, an id, a score, a rank, a query or a list of texts.
    """
    return (
        text_preference(name) is not None
        or ("." in name and " " not in name and last_part(name) in TEXT_LISTS)
        or id_preference(name) is not None
        or normalise(name) in RANK | QUERY_ID | TITLE | TEXT_LISTS
        or normalise(name) in QUERY
        or (is_score(name) and len(name) <= 40)
    )


_TEXT_RANK = {name: place for place, name in enumerate(TEXT)}
_ID_RANK = {name: place for place, name in enumerate(ID)}
