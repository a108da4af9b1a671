"""Problems of a call, in the words of ``TextCall.problems``, that several modules use."""

from __future__ import annotations

from typing import Final

UNCLOSED: Final = "unclosed"
NO_BLOCK: Final = "the opening tag around the call is missing"
NO_BLOCK_END: Final = "the closing tag around the call is missing"
NO_CALL_END: Final = "the closing tag of the call is missing"
NO_PARAM_END: Final = "a parameter has no closing tag"
DOUBLED_OPEN: Final = "a duplicate opening tag"
DOUBLED_END: Final = "a duplicate closing tag"
STRAY_END: Final = "a closing tag without its opening tag"
STRAY_PARAM: Final = "a parameter outside of a call"
TAG_IN_VALUE: Final = "a value contains tags of this format"
WRONG_ORDER: Final = "closing tags in the wrong order"
NO_KEY: Final = "a parameter without a name"
SAME_KEY: Final = "a duplicate parameter"
STRAY_TEXT: Final = "text between the parameters"
NO_JSON: Final = "arguments are not JSON"
NO_OBJECT: Final = "arguments are not an object"
NO_TOOL: Final = "no such tool"
NO_TOOLS: Final = "no tools are declared"
NO_NAME: Final = "no name"
TRAILING: Final = "text after the arguments"
IN_STRING: Final = "arguments are a string that contains JSON"
DOUBLED_BRACES: Final = "doubled braces"
PYTHON: Final = "not JSON; parsed as Python"
FOREIGN_TAGS: Final = "the tags do not belong to any known format"
NO_TAGS: Final = "the tags around the call are missing"
OTHER_ID: Final = "the id does not have the form functions.NAME:INDEX"
MISSPELLED: Final = "a token is misspelled"
NO_ARGUMENT_TOKEN: Final = "the token before the arguments is missing"
OTHER_END: Final = "a closing tag with a different name"
LOOK_ALIKE: Final = "look-alike characters in the tags"
DAMAGED: Final = "damaged markup"

MORE_CALLS: Final = "several calls in one element"
NO_HEAD: Final = "the beginning of the call is missing"
ROUND: Final = "round brackets around the arguments"

READABLE_PROBLEMS: Final = (NO_BLOCK, NO_BLOCK_END, NO_TAGS, FOREIGN_TAGS, NO_TOOL, ROUND)
"""Problems of a call that can be read nevertheless."""
