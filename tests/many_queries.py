"""Write the sample with many queries: python tests/many_queries.py.

A service desk for household appliances, made of the sentences below, and a retriever that is right most of the time.
The same seed gives the same file, so that what the sample holds can be read here and is tested there.
"""

import gzip
import json
import random
from pathlib import Path

FILE = Path(__file__).parents[1] / "sample_data" / "many_queries.jsonl.gz"
QUERIES = 250
SEED = 20

APPLIANCES = [
    "dishwasher", "washing machine", "tumble dryer", "oven", "induction hob", "fridge", "freezer", "kettle", "toaster",
    "coffee machine", "vacuum cleaner", "steam iron", "dehumidifier", "air purifier", "extractor hood", "microwave",
    "food processor", "bread maker", "rice cooker", "slow cooker", "fan heater", "ceiling fan", "water softener",
    "boiler", "heat pump", "robot mower", "sewing machine", "soda maker", "ice maker", "wine cooler",
]  # fmt: skip

# For each topic the question, and what the desk's texts say on it; {a} is the appliance, the rest are its own numbers.
TOPICS = {
    "cleaning": (
        ["How often should I clean the {a}?", "How do I clean the {a} without damage?"],
        [
            "Clean the {a} every {weeks} weeks, and after every use if the water in your area is hard.",
            "Unplug the {a} first and let it cool down for {minutes} minutes.",
            "Use warm water with a little washing-up liquid; scouring powder and bleach leave scratches on the {a}.",
            "The filter of the {a} lifts out to the front and is rinsed under running water until it runs clear.",
            "Descale the {a} with {grams} g of citric acid dissolved in {litres} litres of water, twice a year.",
            "Let every part dry for an hour before you put the {a} together again.",
        ],
    ),
    "noise": (
        ["Why does the {a} make a rattling noise?", "Is it normal that the {a} hums at night?"],
        [
            "A rattling {a} most often does not stand level: turn the feet until a spirit level rests in the middle.",
            "Up to {decibels} decibels at a distance of one metre are normal for the {a}.",
            "A hum that stops when the {a} is switched off comes from the motor and harms nothing.",
            "If the noise began after a move, look for the transport bolts, which must be taken out of the {a}.",
            "A grinding noise that gets louder by the day is a worn bearing: stop using the {a} and call us.",
        ],
    ),
    "warranty": (
        ["How long is the warranty of the {a}?", "Does the warranty of the {a} cover wear?"],
        [
            "The warranty of the {a} runs for {years} years from the date on the receipt.",
            "Seals, filters and lamps of the {a} wear out in use and are covered for {months} months.",
            "Keep the receipt; a photograph of it is enough, together with the serial number of the {a}.",
            "Damage by limescale, frost or a voltage peak is not covered by the warranty of the {a}.",
            "A repair under warranty does not make the warranty of the {a} longer, but spare parts have their own.",
        ],
    ),
    "error codes": (
        ["What does error {code} on the {a} mean?", "The {a} shows {code}: what can I do?"],
        [
            "Error {code} means that the {a} measured no flow of water or air for {minutes} minutes.",
            "Switch the {a} off, wait {minutes} minutes, and switch it on again; {code} goes if its cause is gone.",
            "If {code} comes back, check that nothing blocks the inlet of the {a} and that the hose has no kink.",
            "When {code} shows three times within a day, note the programme and call the desk.",
        ],
    ),
    "energy": (
        ["How much electricity does the {a} use?", "How can I save energy with the {a}?"],
        [
            "The {a} uses about {kwh} kWh in a year of ordinary use, and less than half a watt when it is off.",
            "The eco programme of the {a} takes {minutes} minutes longer and saves about {percent} percent.",
            "A full {a} uses hardly more than a half-empty one, so wait until it is worth it.",
            "Keep {cm} cm of air behind the {a}; where heat gathers, it works longer for the same result.",
        ],
    ),
    "installation": (
        ["How much space does the {a} need?", "How do I connect the {a}?"],
        [
            "Leave {cm} cm free on both sides of the {a} and twice that above it.",
            "The {a} needs a socket of its own with a fuse of {amps} amperes; an extension lead is not enough.",
            "Two people should carry the {a}, which weighs {kg} kg, and it must stand upright all the way.",
            "After a cold journey let the {a} stand for {hours} hours before you switch it on.",
            "Tighten the connection of the {a} by hand and then a quarter turn more, and look for drops after an hour.",
        ],
    ),
    "spare parts": (
        ["Where do I get spare parts for the {a}?", "Which seal fits the {a}?"],
        [
            "Spare parts for the {a} are kept for {years} years after the last one was sold.",
            "The seal of the {a} has the number {part}; the number is also printed inside the door.",
            "Parts ordered before noon are sent the same day, and cost {price} in postage.",
            "You may fit handles, seals and filters of the {a} yourself; whatever carries current is for a workshop.",
        ],
    ),
    "storage": (
        ["How do I store the {a} over the winter?", "Can the {a} stand in an unheated room?"],
        [
            "Empty the {a}, leave its door ajar, and keep it where it does not freeze.",
            "Below {degrees} degrees the grease in the {a} thickens, and starting it cold shortens its life.",
            "Take the battery or the plug out and wind the lead loosely; a tight coil breaks it within {years} years.",
            "Run the {a} once empty before you use it again after a winter.",
        ],
    ),
    "safety": (
        ["Can I leave the {a} on when I go out?", "Is the {a} safe with small children around?"],
        [
            "The {a} switches itself off after {minutes} minutes, but do not leave the house while it works.",
            "Press the lock of the {a} for {seconds} seconds until the lamp is red; then no button does anything.",
            "Keep the lead of the {a} behind it, where nobody can pull it.",
            "A {a} that smells of burning is unplugged at once and not switched on again until it has been looked at.",
        ],
    ),
    "returns": (
        ["Can I return the {a} after I used it?", "What does it cost to send the {a} back?"],
        [
            "You can return the {a} within {days} days, also if you have tried it out as you would in a shop.",
            "We collect the {a} from your door; the collection costs {price} and nothing if it is faulty.",
            "The money for the {a} is on your account {days} days after it has reached us.",
        ],
    ),
}  # fmt: skip


def numbers(generator: random.Random) -> dict[str, str]:
    """Draw an appliance's own numbers."""
    number = generator.randint
    return {
        "weeks": str(number(2, 8)), "minutes": str(number(2, 45)), "grams": str(number(20, 90)),
        "litres": str(number(1, 3)), "decibels": str(number(34, 72)), "years": str(number(2, 12)),
        "months": str(number(6, 12)), "code": f"{generator.choice('EFH')}{number(10, 79)}", "kwh": str(number(12, 410)),
        "percent": str(number(12, 45)), "cm": str(number(3, 20)), "amps": generator.choice(["10", "16"]),
        "kg": str(number(3, 82)), "hours": str(number(2, 24)), "degrees": str(number(4, 10)),
        "part": f"{number(100, 999)}-{number(10, 99)}/{generator.choice('ABCDEF')}{number(1, 9)}",
        "price": f"{number(3, 29)}.{number(0, 9)}0 euros", "seconds": str(number(3, 8)), "days": str(number(14, 30)),
    }  # fmt: skip


def corpus(generator: random.Random) -> list[dict]:
    """Write the desk's texts: short answers, whole articles, manual pages, and tables of codes and parts."""
    texts = []
    for appliance in APPLIANCES:
        own = {"a": appliance, **numbers(generator)}
        short = "".join(word[0] for word in appliance.split()) + appliance[-2:]
        manual = []
        for topic, (_, sentences) in TOPICS.items():
            said = [sentence.format(**own) for sentence in sentences]
            about = {"appliance": appliance, "topics": [topic]}
            name = f"{short}-{topic.replace(' ', '-')}"
            texts.append({**about, "id": f"{name}-short", "content": generator.choice(said[:2])})
            opening = f"On the {topic} of the {appliance}, as our customers asked for it most often. "
            article = said if generator.random() < 0.6 else said[:3]
            content = opening * (len(article) > 3) + " ".join(article)
            texts.append({**about, "id": f"{name}-article", "content": content})
            if generator.random() < 0.25:
                texts.append({**about, "id": f"{name}-forum", "content": forum(generator, appliance, topic, said)})
            manual.append(f"{topic.capitalize()}. {' '.join(said[: generator.randint(1, len(said))])}")
        half = len(manual) // 2
        for page, part in enumerate((manual[:half], manual[half:]), 1):
            topics = list(TOPICS)[:half] if page == 1 else list(TOPICS)[half:]
            head = f"Manual of the {appliance}, page {page} of 2.\n\n"
            content = head + "\n\n".join(part)
            texts.append({"appliance": appliance, "topics": topics, "id": f"{short}-manual-{page}", "content": content})
        texts.append(table(generator, appliance, short, own["code"]))
    return texts


def forum(generator: random.Random, appliance: str, topic: str, said: list[str]) -> str:
    """Write a thread of the customers' forum: much text around one sentence that helps."""
    chat = [
        f"I have had my {appliance} for three years now and was always pleased with it, until last week.",
        "Same here, although mine is the older model with the round buttons.",
        "Have you looked into the booklet? I threw mine away, to be honest.",
        "My neighbour says it is the water, but he says that about everything.",
        "Thank you all, I will try that on Saturday and report back.",
        f"For what it is worth, the desk told me this about {topic}: {generator.choice(said)}",
        "It worked at the first attempt. I only wish I had asked earlier.",
        "Please open a thread of your own, this one is about something else.",
    ]
    return "\n".join([*generator.sample(chat, generator.randint(4, len(chat))), said[0]])


def table(generator: random.Random, appliance: str, short: str, code: str) -> dict:
    """Write a table of codes: few words, many tokens."""
    causes = [
        "no inflow",
        "door open",
        "sensor NTC-2",
        "motor blocked",
        "over-temperature",
        "leak in base",
        "no signal",
    ]
    number = generator.randint
    codes = [code, *(f"{generator.choice('EFH')}{number(10, 79)}" for _ in range(number(5, 16)))]
    rows = [
        f"|{each}|{generator.choice(causes)}|R{number(100, 999)}=0x{generator.getrandbits(16):04X}|" for each in codes
    ]
    content = f"|code|{appliance}: cause|register|\n|---|---|---|\n" + "\n".join(rows)
    return {"appliance": appliance, "topics": ["error codes"], "id": f"{short}-codes", "content": content}


def retrieve(generator: random.Random, texts: list[dict], appliance: str, topic: str) -> list[dict]:
    """Rank as a fair retriever does: the appliance and the topic count, and so does chance."""
    scored = []
    for text in texts:
        same, on_topic = text["appliance"] == appliance, topic in text["topics"]
        if same or (on_topic and generator.random() < 0.25):
            score = 0.34 * same + 0.3 * on_topic + 0.1 * (len(text["topics"]) == 1) + generator.gauss(0.12, 0.09)
            scored.append((min(max(score, 0.05), 0.99), text, same and on_topic))
    scored.sort(key=lambda entry: -entry[0])
    found = [
        {"id": text["id"], "content": text["content"], "score": round(score, 4), "relevant": relevant}
        for score, text, relevant in scored[: min(20, max(6, round(generator.gauss(12, 3.5))))]
    ]
    if generator.random() < 0.15:  # two retrievers found it: the copy further down has its own score
        copy = dict(found[generator.randrange(3)])
        copy["score"] = found[-1]["score"]
        found.append(copy)
    return found


def lines() -> list[str]:
    """Write the sample, a query a line."""
    generator = random.Random(SEED)
    texts = corpus(generator)
    wanted = [(appliance, topic) for appliance in APPLIANCES for topic in TOPICS]
    made = []
    for appliance, topic in generator.sample(wanted, QUERIES):
        code = next(text for text in texts if text["appliance"] == appliance and text["id"].endswith("-codes"))
        own = {"a": appliance, "code": code["content"].split("\n")[2].split("|")[1]}
        question = generator.choice(TOPICS[topic][0]).format(**own)
        documents = retrieve(generator, texts, appliance, topic)
        made.append(json.dumps({"query": question, "documents": documents}))
    return made


if __name__ == "__main__":
    FILE.write_bytes(gzip.compress("".join(f"{line}\n" for line in lines()).encode(), 9, mtime=0))
    print(f"{FILE}: {FILE.stat().st_size:,} bytes")
