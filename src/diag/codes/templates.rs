//! Codes about templates and expressions.

codes! {
    /// Templates include or extend each other in a circle.
    ///
    /// A template cannot include or extend itself, directly or through others.
    /// Remove one link of the chain that the message shows.
    ///
    /// ## Bad
    ///
    /// ```jinja prompts/example.md.j2
    /// {% include "rules.md.j2" %}
    /// ```
    ///
    /// ```jinja prompts/rules.md.j2
    /// {% include "example.md.j2" %}
    /// ```
    ///
    /// ## Good
    ///
    /// ```jinja prompts/example.md.j2
    /// {% include "rules.md.j2" %}
    /// ```
    ///
    /// ```jinja prompts/rules.md.j2
    /// Answer in one sentence.
    /// ```
    INCLUDE_CYCLE = "include-cycle", Error;

    /// A template prints a constant.
    ///
    /// `{{ 1 }}` prints `1`, so the braces have no use; often they belong to JSON or LaTeX and were meant literally.
    /// Put literal braces in `{% raw %}` and `{% endraw %}`.
    ///
    /// ## Bad
    ///
    /// ```jinja
    /// Write halves as \frac{{1}}{{2}}.
    /// ```
    ///
    /// ## Good
    ///
    /// ```jinja
    /// Write halves as {% raw %}\frac{{1}}{{2}}{% endraw %}.
    /// ```
    TEMPLATE_CONSTANT = "template-constant", Warning;

    /// A template includes or extends a file that does not exist.
    ///
    /// The name is looked up beside the template, in the workspace, and in the folders under `paths.prompts`.
    ///
    /// ## Bad
    ///
    /// ```jinja prompts/example.md.j2
    /// {% include "ruls.md.j2" %}
    /// ```
    ///
    /// ```jinja prompts/rules.md.j2
    /// Answer in one sentence.
    /// ```
    ///
    /// ## Good
    ///
    /// ```jinja prompts/example.md.j2
    /// {% include "rules.md.j2" %}
    /// ```
    ///
    /// ```jinja prompts/rules.md.j2
    /// Answer in one sentence.
    /// ```
    TEMPLATE_NOT_FOUND = "template-not-found", Error;

    /// A template would do more work than it may.
    ///
    /// The ranges that the template runs through are constant and together far larger than the fuel of one rendering.
    /// Use smaller ranges.
    ///
    /// ## Bad
    ///
    /// ```jinja
    /// {% for row in range(9999) %}{% for column in range(9999) %}{{ row * column }} {% endfor %}{% endfor %}
    /// ```
    ///
    /// ## Good
    ///
    /// ```jinja
    /// {% for row in range(9) %}{% for column in range(9) %}{{ row * column }} {% endfor %}{% endfor %}
    /// ```
    TEMPLATE_OUT_OF_FUEL = "template-out-of-fuel", Error adjustable;

    /// A template names a file outside the workspace.
    ///
    /// Templates may read files of the workspace only, by relative names without `..`.
    ///
    /// ## Bad
    ///
    /// ```jinja
    /// {% include "../../notes.md" %}
    /// ```
    ///
    /// ## Good
    ///
    /// ```jinja prompts/example.md.j2
    /// {% include "notes.md" %}
    /// ```
    ///
    /// ```jinja prompts/notes.md
    /// Customers write in German.
    /// ```
    TEMPLATE_OUTSIDE_ROOT = "template-outside-root", Error;

    /// A template cannot be read.
    ///
    /// The text between `{{ }}` or `{% %}` is not a valid template.
    /// To write braces literally, put them in `{% raw %}` and `{% endraw %}`.
    ///
    /// ## Bad
    ///
    /// ```jinja
    /// Reply with {{"queue": "billing"}}.
    /// ```
    ///
    /// ## Good
    ///
    /// ```jinja
    /// Reply with {"queue": "billing"}.
    /// ```
    TEMPLATE_SYNTAX = "template-syntax", Error;

    /// A block of a template is not closed.
    ///
    /// Every `{% if %}`, `{% for %}`, `{% raw %}` and so on needs its end.
    /// The place is the block's opening.
    ///
    /// ## Bad
    ///
    /// ```jinja
    /// {% if input %}The user wrote: {{ input }}
    /// ```
    ///
    /// ## Good
    ///
    /// ```jinja
    /// {% if input %}The user wrote: {{ input }}{% endif %}
    /// ```
    TEMPLATE_UNCLOSED_BLOCK = "template-unclosed-block", Error;

    /// A template uses a name that is not defined.
    ///
    /// Templates are strict: a name that does not exist is an error and not an empty text.
    /// Test with `is defined`, or give a value with `| default(...)`.
    ///
    /// ## Bad
    ///
    /// ```jinja
    /// Sort this: {{ inptu }}
    /// ```
    ///
    /// ## Good
    ///
    /// ```jinja
    /// Sort this: {{ input }}
    /// ```
    UNDEFINED_VARIABLE = "undefined-variable", Error adjustable;

    /// A filter that does not exist.
    ///
    /// A template uses a filter that the engine does not have.
    /// The reference lists the filters.
    ///
    /// ## Bad
    ///
    /// ```jinja
    /// Sort this: {{ input | upcase }}
    /// ```
    ///
    /// ## Good
    ///
    /// ```jinja
    /// Sort this: {{ input | upper }}
    /// ```
    UNKNOWN_FILTER = "unknown-filter", Error;

    /// A function that does not exist.
    ///
    /// A template calls a function that the engine does not have.
    /// The reference lists the functions.
    ///
    /// ## Bad
    ///
    /// ```jinja
    /// The text has {{ len(input) }} characters.
    /// ```
    ///
    /// ## Good
    ///
    /// ```jinja
    /// The text has {{ input | length }} characters.
    /// ```
    UNKNOWN_FUNCTION = "unknown-function", Error;

    /// A test that does not exist.
    ///
    /// A template uses a test (after `is`) that the engine does not have.
    /// The reference lists the tests.
    ///
    /// ## Bad
    ///
    /// ```jinja
    /// {% if run.iteration is evne %}Look back first.{% endif %}
    /// ```
    ///
    /// ## Good
    ///
    /// ```jinja
    /// {% if run.iteration is even %}Look back first.{% endif %}
    /// ```
    UNKNOWN_TEST = "unknown-test", Error;
}
