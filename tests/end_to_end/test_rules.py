import json

RULES = [
    {"ordered": ["age", "leaves"]},
    {"sum": "income", "of": ["wage", "rent"]},
    {"determined": "tariff", "by": "plan", "map": {"basic": 3, "pro": 9}},
]


def _schema(rules):
    money = {"type": "integer", "min": 0, "max": 90_000}
    columns = [
        {"name": "age", "type": "integer", "min": 18, "max": 90},
        {"name": "leaves", "type": "integer", "min": 18, "max": 95, "missing": True},
        {"name": "wage", **money},
        {"name": "rent", **money},
        {"name": "income", **money},
        {"name": "plan", "type": "category", "values": ["basic", "pro", "none"]},
        {"name": "tariff", "type": "integer", "min": 0, "max": 9},
    ]
    return json.dumps({"columns": columns, "rules": rules})


def _kept(row):
    in_order = row["leaves"] == "" or int(row["age"]) <= int(row["leaves"])
    adds_up = int(row["wage"]) + int(row["rent"]) == int(row["income"]) <= 90_000
    follows = row["plan"] == "none" or row["tariff"] == {"basic": "3", "pro": "9"}[row["plan"]]
    return in_order and adds_up and follows


def _broken_people(rows):
    """Rows of which every other one breaks every rule: such rows are rows like any other."""
    return [
        {"age": 20 + i % 50, "leaves": "" if i % 5 == 0 else 19 + i % 7 + 60 * (i % 2), "wage": 800 * (i % 90),
         "rent": 30_000, "income": 40_000, "plan": ["basic", "pro", "none"][i % 3], "tariff": i % 10}
        for i in range(rows)
    ]  # fmt: skip


def test_every_row_keeps_the_rules_of_the_schema_whatever_the_private_rows_do(desk):
    desk.write("private.csv", _broken_people(120))
    desk.write("schema.json", _schema(RULES))
    rows = desk.done("--schema", "in/schema.json", public=None)
    assert len(rows) == 50
    assert all(map(_kept, rows))
    desk.write("public.csv", _broken_people(60))
    assert all(map(_kept, desk.done("--schema", "in/schema.json")))


def test_without_rules_rows_break_them(desk):
    desk.write("private.csv", _broken_people(120))
    desk.write("schema.json", _schema([]))
    assert not all(map(_kept, desk.done("--schema", "in/schema.json", public=None)))


def test_rules_that_contradict_each_other_are_refused_before_anything_is_spent(desk):
    desk.write("private.csv", _broken_people(120))
    desk.write("schema.json", _schema([*RULES, {"ordered": ["wage", "income"]}]))
    answer = desk.synth("--schema", "in/schema.json", public=None)
    desk.refused("rules[3]", "'wage'", "one rule only", answer=answer)
