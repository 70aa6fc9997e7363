"""Tool-info module: tells BenchExec how to run Raddle on a task, and what its answer was. See docs/sv-comp.md."""

import benchexec.result as result
import benchexec.tools.template
from benchexec.tools.sv_benchmarks_util import ILP32, LP64, get_data_model_from_task

# What reports say that are about giving memory back rather than accessing it.
WRONG_FREE = ("is freed twice", "`free` of")


class Tool(benchexec.tools.template.BaseTool2):
    def executable(self, tool_locator):
        return tool_locator.find_executable("raddle")

    def name(self):
        return "Raddle"

    def version(self, executable):
        return self._version_from_tool(executable, line_prefix="raddle")

    def cmdline(self, executable, options, task, rlimits):
        command = [executable, "check", *task.input_files_or_identifier]
        if task.property_file:
            command += ["--property", task.property_file]
        # Raddle ends by itself before it is ended, and then says so.
        if rlimits.cputime:
            command += ["--time-limit", str(max(1, rlimits.cputime - 5))]
        if rlimits.memory:
            command += ["--memory-limit", str(rlimits.memory * 9 // 10 // 1_000_000)]
        models = {ILP32: "ILP32", LP64: "LP64"}
        model = get_data_model_from_task(task, models)
        return command + (["--data-model", model] if model else []) + options

    def determine_result(self, run):
        status = run.exit_code.value
        if status == 0:
            return result.RESULT_TRUE_PROP
        if status == 3:
            return result.RESULT_UNKNOWN
        if status != 1:
            return result.RESULT_ERROR
        found = [line for line in run.output if line.startswith("violation:")]
        return self.violated(run.cmdline, " ".join(found))

    def violated(self, cmdline, found):
        """What a violation is one of, in the words of the competition."""
        named = cmdline[cmdline.index("--property") + 1] if "--property" in cmdline else ""
        if "data-race" in named or "data race" in found:
            return result.RESULT_FALSE_DATARACE
        if "overflow" in named:
            return result.RESULT_FALSE_OVERFLOW
        if "mem" in named:
            is_free = any(words in found for words in WRONG_FREE)
            return result.RESULT_FALSE_FREE if is_free else result.RESULT_FALSE_DEREF
        return result.RESULT_FALSE_REACH
