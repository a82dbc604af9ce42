import { usage } from '../core/failure.ts'
import type { Session } from '../session/session.ts'

// Completion scripts; each calls the program itself for the candidates and prints no errors.
const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_podplane() {
  local IFS=$'\\n' word="\${COMP_WORDS[COMP_CWORD]}"
  COMPREPLY=($(podplane __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
  [ "\${#COMPREPLY[@]}" -gt 0 ] || COMPREPLY=($(compgen -f -- "$word"))
}
complete -F _podplane podplane
`,
  zsh: `#compdef podplane
_podplane() {
  local -a found
  found=("\${(@f)$(podplane __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null | sed -e 's/:/\\\\:/g' -e 's/\\t/:/')}")
  [[ -n "\${found[1]}" ]] && _describe 'podplane' found || _files
}
compdef _podplane podplane
`,
  fish: `complete -c podplane -f -a '(podplane __complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'
`,
  // PowerShell before 7.3 drops empty arguments unless they are written as two quotes.
  powershell: `Register-ArgumentCompleter -Native -CommandName podplane -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 | Where-Object { $_.Extent.EndOffset -le $cursorPosition } | ForEach-Object { $_.ToString() })
  if ($wordToComplete -eq '') { $words += if ($PSVersionTable.PSVersion -ge [version]'7.3') { '' } else { '""' } }
  podplane __complete -- @words 2>$null | ForEach-Object {
    $word, $text = $_ -split "\t", 2
    $tip = if ($text) { $text } else { $word }
    [System.Management.Automation.CompletionResult]::new($word, $word, 'ParameterValue', $tip)
  }
}
`,
}

/** Prints the completion script of a shell. Throws a usage error if there is none for it. */
export function printCompletion(session: Session, shell: string): void {
  const script = SCRIPTS[shell]
  if (script === undefined) throw usage(`${shell}: it must be one of ${Object.keys(SCRIPTS).join(', ')}`)
  session.out.raw(script)
}
