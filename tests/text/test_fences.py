from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from forky_core.text.fences import CodeBlocks, parts

SOME = """\


words
more `code` here
| a | b |
```
```
````
~~~
~~~~~
   ```
```py
``` a b
~~~ `x`
``` `no` ```
```a```
> words
> ```
>```
>
> > ```
> ~~~
> > words
  > ```sh
   > words"""
IN_LISTS = """\
    ```
>     ```
- words
- ```
  ```
1. ```py
   words
  - ~~~
    ~~~
* > ```
     words"""
LINES, ALL = SOME.split("\n"), f"{SOME}\n{IN_LISTS}".split("\n")
JUDGE = MarkdownIt("commonmark")


def judged(lines: list[str]) -> set[int]:
    """The numbers of the lines that are code, with their fences, as markdown-it-py has them."""
    fences = (token.map for token in JUDGE.parse("\n".join(lines)) if token.type == "fence")
    return not_blank(lines, {number for span in fences if span for number in range(*span)})


def not_blank(lines: list[str], numbers: set[int]) -> set[int]:
    return {number for number in numbers if lines[number].strip(" >")}


@given(st.lists(st.sampled_from(LINES), max_size=12))
def test_code_in_texts_and_quotations_is_what_commonmark_says(lines: list[str]) -> None:
    code = {number for number, (_, part) in enumerate(parts(lines)) if part != "prose"}
    assert not_blank(lines, code) == judged(lines)


@given(st.lists(st.sampled_from(ALL), max_size=12))
def test_the_line_that_ends_a_block_ends_it(lines: list[str]) -> None:
    blocks = CodeBlocks()
    for line in lines:
        blocks.take(line)
    if blocks.marker:
        assert blocks.take(blocks.end) == "closes"
        assert blocks.take("words") == "prose"


def test_code_below_an_item_may_be_indented_by_any_number_of_spaces() -> None:
    text = "1. Run\n\n      ```sh\n      forky up\n      ```\n\n- ```py\n  x\n  ```\nwords"
    code = [line.strip() for line, part in parts(text.splitlines()) if part == "code"]
    assert code == ["forky up", "x"]


def test_a_longer_fence_holds_shorter_ones() -> None:
    text = "````md\n```py\nx\n```\n````\nwords"
    assert [part for _, part in parts(text.splitlines())] == ["opens", *["code"] * 3, "closes", "prose"]
