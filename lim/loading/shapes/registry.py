"""Every shape the loader knows, most telling first. Adding one is an entry here and a test.

An entry says only what its tool does differently: everything that names alone decide is left out.
"""

from __future__ import annotations

from dataclasses import dataclass

from lim.loading.shapes.shape import Shape

GENERIC = Shape(
    "records",
    "any object or row with a field named like a text: `content`, `text`, `passage`, `chunk`, `body` …",
)
TEXTS = Shape("texts", "a list of texts, each a document", text=("content",), exact=True)
GUESSED = Shape("records, text field guessed", "rows whose names say nothing: the longest, most varied text column")

SHAPES: tuple[Shape, ...] = (
    Shape(
        "Haystack documents",
        "`content` beside `blob`, `sparse_embedding` or `dataframe`; flat or nested `meta`",
        keys=("content", "blob|sparseembedding|dataframe|idhashkeys"),
        text=("content",),
        id=("id",),
        score=("score",),
        exact=True,
    ),
    Shape(
        "LangChain documents, dumped",
        "`lc`, `type: constructor` and `kwargs.page_content`",
        keys=("lc", "kwargs.pagecontent"),
        text=("kwargs.pagecontent",),
        id=("kwargs.id",),
        score=("score", "kwargs.metadata.relevancescore", "kwargs.metadata.score"),
        drop=("lc", "type", "id", "kwargs.type"),
        exact=True,
    ),
    Shape(
        "LangChain documents with scores, dumped",
        "pairs of a dumped document and its score",
        keys=("document.kwargs.pagecontent",),
        text=("document.kwargs.pagecontent",),
        id=("document.kwargs.id",),
        score=("score",),
        drop=("document.lc", "document.type", "document.id", "document.kwargs.type"),
        exact=True,
    ),
    Shape(
        "LangChain documents",
        "`page_content` or `pageContent`, beside `metadata`",
        keys=("pagecontent",),
        text=("pagecontent",),
        id=("id",),
        drop=("type",),
    ),
    Shape(
        "LangChain documents with scores",
        "pairs of a document and its score",
        keys=("document.pagecontent",),
        text=("document.pagecontent",),
        id=("document.id",),
        score=("score",),
        drop=("document.type",),
    ),
    Shape(
        "LlamaIndex nodes with scores",
        "`node` with `text` or `text_resource.text`, the score beside it",
        keys=("node.text|node.textresource.text|node.data.text",),
        text=("node.textresource.text", "node.text", "node.data.text"),
        id=("node.id", "node.nodeid", "node.docid", "node.data.id"),
        score=("score",),
        drop=(
            "classname",
            "node.embedding",
            "node.relationships",
            "node.excludedembedmetadatakeys",
            "node.excludedllmmetadatakeys",
            "node.metadatatemplate",
            "node.metadataseparator",
            "node.metadataseperator",
            "node.texttemplate",
            "node.mimetype",
            "node.startcharidx",
            "node.endcharidx",
            "node.classname",
            "node.hash",
            "node.nodeinfo",
            "node.type",
            "node.imageresource",
            "node.audioresource",
            "node.videoresource",
            "node.textresource",
        ),
    ),
    Shape(
        "LlamaIndex nodes",
        "`text` or `text_resource.text` beside `relationships`",
        keys=("relationships", "text|textresource.text"),
        text=("textresource.text", "text"),
        id=("id", "nodeid", "docid"),
        drop=(
            "relationships",
            "embedding",
            "excludedembedmetadatakeys",
            "excludedllmmetadatakeys",
            "metadatatemplate",
            "metadataseparator",
            "metadataseperator",
            "texttemplate",
            "mimetype",
            "startcharidx",
            "endcharidx",
            "classname",
            "hash",
            "nodeinfo",
            "imageresource",
            "audioresource",
            "videoresource",
            "textresource",
        ),
    ),
    Shape(
        "LlamaIndex source nodes, before 0.6",
        "`source_text` beside `similarity`",
        keys=("sourcetext", "docid|similarity"),
        text=("sourcetext",),
        id=("docid",),
        score=("similarity",),
        drop=("nodeinfo", "image"),
    ),
    Shape(
        "Qdrant points",
        "`payload` beside `id` and `score`",
        keys=("payload", "id|score"),
        text=("payload.*",),
        id=("id",),
        score=("score",),
        drop=("version", "vector", "shardkey", "ordervalue", "collection"),
    ),
    Shape(
        "Weaviate objects",
        "`_additional` beside the object's fields, or `uuid` and `properties`",
        keys=("additional|uuid", "additional|properties"),
        text=("properties.*",),
        id=("additional.id", "uuid"),
        score=(
            "additional.rerank.score",
            "additional.score",
            "additional.certainty",
            "additional.distance",
            "metadata.rerankscore",
            "metadata.score",
            "metadata.certainty",
            "metadata.distance",
        ),
        drop=("additional", "metadata", "vector", "collection", "references"),
    ),
    Shape(
        "Milvus hits",
        "`entity` beside `id` and `distance` or `score`",
        keys=("entity", "distance|score"),
        text=("entity.*",),
        id=("id", "pk"),
        score=("score", "distance"),
    ),
    Shape(
        "Elasticsearch or OpenSearch hits",
        "`_source` or `fields` beside `_id` and `_score`",
        keys=("index|source.*", "score", "source.*|fields.*"),
        text=("source.*", "fields.*"),
        id=("id",),
        score=("score",),
        drop=(
            "index",
            "type",
            "version",
            "seqno",
            "primaryterm",
            "routing",
            "ignored",
            "sort",
            "highlight",
            "explanation",
            "matchedqueries",
            "innerhits",
            "shard",
            "node",
        ),
    ),
    Shape(
        "Azure AI Search results",
        "`@search.score` beside the index's fields",
        keys=("@search.score",),
        score=("@search.rerankerscore", "@search.score"),
        drop=(
            "@search.captions",
            "@search.highlights",
            "@search.documentdebuginfo",
            "@search.features",
            "@search.rerankerboostedscore",
            "@odata.etag",
        ),
    ),
    Shape(
        "Vespa hits",
        "`fields` beside `relevance`",
        keys=("fields.*", "relevance"),
        text=("fields.*",),
        id=("id", "fields.documentid"),
        score=("relevance",),
        drop=("source", "label", "fields.sddocname", "fields.matchfeatures", "fields.summaryfeatures"),
    ),
    Shape(
        "Bedrock knowledge base results",
        "`content.text` beside `location`",
        keys=("content.text", "location|score"),
        text=("content.text",),
        score=("score",),
        drop=("content",),
    ),
    Shape(
        "Pinecone matches",
        "`metadata` with the text beside `id` and `score`, or `fields` beside `_id` and `_score`",
        keys=("id", "score", "metadata.*|fields.*"),
        text=("metadata.*", "fields.*"),
        id=("id",),
        score=("score",),
        drop=("values", "sparsevalues"),
    ),
    Shape(
        "OpenInference (Phoenix) documents",
        "`document.content` beside `document.id`, `document.score`, nested or flattened",
        keys=("document.content",),
        text=("document.content",),
        id=("document.id",),
        score=("document.score", "score"),
    ),
    Shape(
        "RankLLM candidates",
        "`doc` beside `docid` and `score`",
        keys=("doc", "docid"),
        text=("doc.*", "doc"),
        id=("docid",),
        score=("score",),
        drop=("qid",),
    ),
    Shape(
        "BEIR documents",
        "`_id`, `title` and `text`",
        keys=("id", "title", "text"),
        text=("text",),
        id=("id",),
        only_in=("",),
    ),
    Shape(
        "DPR or Contriever passages",
        "`ctxs` with `title` and `text`",
        keys=("text",),
        text=("text",),
        id=("id", "passageid", "psgid"),
        score=("score",),
        only_in=("ctxs", "positivectxs", "negativectxs", "hardnegativectxs"),
    ),
    Shape(
        "MS MARCO passages",
        "`passage_text` beside `is_selected`, or columns qid, pid, query, passage",
        keys=("passagetext|passage", "isselected|pid"),
        text=("passagetext", "passage"),
        id=("pid",),
    ),
    Shape(
        "RAGChecker contexts",
        "`retrieved_context` with `doc_id` and `text`",
        keys=("docid", "text"),
        text=("text",),
        id=("docid",),
        only_in=("retrievedcontext",),
    ),
    Shape(
        "pgvector rows",
        "`document` beside `cmetadata`, or a text beside `distance`",
        keys=("document", "cmetadata"),
        text=("document",),
        id=("customid", "id", "uuid"),
        drop=("collectionid", "embedding"),
    ),
    Shape(
        "Reranker response (Cohere, Jina, Voyage, TEI)",
        "`index` beside `relevance_score` or `score`; texts in it, or in a second file with the documents sent",
        keys=("index", "relevancescore|score"),
        text=("document.text", "document.content", "document", "text"),
        id=("document.id",),
        score=("relevancescore", "score"),
        drop=("index", "object"),
        texts_elsewhere=True,
    ),
)


@dataclass(frozen=True, slots=True)
class Columns:
    """Lists that stand side by side in one object, an item of each for every document.

    :param name: what a person calls it.
    :param about: how it is recognised.
    :param text: names of the list of texts; the others are found beside it.
    :param id: names of the list of ids.
    :param score: names of the list of scores or distances, with the name the numbers go by.
    :param meta: names of the list of the user's own fields.
    :param beside: one of these must be there too, as a list of the same length.
    """

    name: str
    about: str
    text: tuple[str, ...]
    id: tuple[str, ...] = ()
    score: tuple[tuple[str, str], ...] = ()
    meta: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()


COLUMNS: tuple[Columns, ...] = (
    Columns(
        "Chroma query result",
        "`documents` beside `ids`, with `distances` and `metadatas`; one list for each query",
        text=("documents",),
        id=("ids",),
        score=(("distances", "distance"), ("scores", "score")),
        meta=("metadatas",),
        beside=("ids", "distances", "metadatas"),
    ),
    Columns(
        "AutoRAG results",
        "`retrieved_contents` beside `retrieved_ids` and `retrieve_scores`",
        text=("retrievedcontents",),
        id=("retrievedids",),
        score=(("retrievescores", "retrieve_score"), ("retrievedscores", "retrieve_score")),
        beside=("retrievedids", "retrievescores"),
    ),
    Columns(
        "Ragas samples",
        "`retrieved_contexts` or `contexts`, a list of texts (or such a list written in a cell)",
        text=("retrievedcontexts", "contexts"),
        id=("retrievedcontextids", "contextids", "ids"),
        score=(
            ("scores", "score"),
            ("retrievalscores", "score"),
            ("contextscores", "score"),
            ("distances", "distance"),
        ),
    ),
    Columns(
        "MS MARCO passages in columns",
        "`passage_text` beside `is_selected`, each a list",
        text=("passagetext",),
        beside=("isselected", "url"),
    ),
    Columns(
        "columns",
        "an object of lists of the same length, one of them named like a text",
        text=(
            "content",
            "contents",
            "text",
            "texts",
            "documents",
            "docs",
            "passages",
            "chunks",
            "pagecontent",
            "passage",
            "chunk",
            "context",
            "body",
            "document",
        ),
        id=("id", "ids", "docid", "docids", "documentid", "documentids"),
        score=(("scores", "score"), ("score", "score"), ("distances", "distance"), ("distance", "distance")),
        meta=("metadatas", "metadata", "meta", "metas"),
        beside=(
            "id",
            "ids",
            "docid",
            "docids",
            "score",
            "scores",
            "distances",
            "distance",
            "metadatas",
            "title",
            "rank",
        ),
    ),
)
"""Shapes of parallel lists, most telling first."""
