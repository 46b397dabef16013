import { Reader, plainCall } from '../../../src/domain/security-rules/shell/reader.js';
import { Scope } from '../../../src/domain/security-rules/shell/scope.js';
import { plain, shown } from '../../../src/domain/security-rules/shell/text.js';
import { WrittenFiles } from '../../../src/domain/security-rules/shell/written-files.js';
import { workspace } from './plan.js';

/** The programs that a line of a shell starts, with their arguments; `…` is what only the running command knows. */
const started = (line: string): string[] => {
  const reader = new Reader(workspace, new WrittenFiles(workspace));
  reader.start(['bash', '-c', line].map(plain), new Scope({ path: workspace, climbed: false }, {}), plainCall);
  return reader.invocations
    .slice(1)
    .filter(({ program }) => program !== ':')
    .map(({ name, args }) => [name, ...args].map((word) => shown(word)).join('|'));
};

describe('a line of a shell starts', () => {
  test.each<[string, string[]]>([
    ['ls -l a', ['ls|-l|a']],
    ['a; b && c || d & e', ['a', 'b', 'c', 'd', 'e']],
    ['a | b |& c', ['a', 'b', 'c']],
    ['echo \'a b\' "c d" e\\ f', ['echo|a b|c d|e f']],
    ['p\'r\'"o"\\g x', ['prog|x']],
    ["p $'\\x61\\142c'", ['p|abc']],
    ['X=1; p $X "$X" \'$X\' \\$X', ['p|1|1|$X|$X']],
    ['X="a b"; p $X "$X"', ['p|a|b|a b']],
    ['X=; p $X "$X" end', ['p||end']],
    ['p $UNSET "$UNSET"', ['p|']],
    ['X=a; X+=b; p $X', ['p|ab']],
    ['A=(a "b c"); p "${A[@]}" ${A[1]} ${#A}', ['p|a|b c|b|c|…']],
    ['X=abc; p ${X:1} ${X:0:1} ${X/b/-} ${X#a} ${X%c} ${X^^} ${Y:-y}', ['p|bc|a|a-c|bc|ab|ABC|y']],
    ['X=/a/b.c; p ${X%/*} ${X##*/}', ['p|/a|b.c']],
    ['p {a,b}c {1..3} x{,y}', ['p|ac|bc|…|x|xy']],
    ['p $(echo a) `echo b`', ['echo|a', 'echo|b', 'p|a|b']],
    ['p "$(cat file)"', ['cat|file', 'p|…']],
    ['p $((1 + 2))', ['p|…']],
    ['for i in a b; do p $i; done', ['p|a', 'p|b']],
    ['if a; then b; elif c; then d; else e; fi', ['a', 'b', 'c', 'd', 'e']],
    ['case $1 in a) b;; *) c;; esac', ['b', 'c']],
    ['f() { p "$1" $#; }; f a; f b', ['p|a|…', 'p|b|…']],
    ['f() { p; }', []],
    ['(a; b) | { c; d; }', ['a', 'b', 'c', 'd']],
    ['set -- x y; p "$@" $2; shift; p $1', ['p|x|y|y', 'p|y']],
    ['X=a; (X=b); p $X', ['p|a']],
    ['X=a; t && X=b; p $X', ['t', 'p|a', 'p|b']],
    ['eval "p a"', ['eval|p a', 'p|a']],
    ['sh -c \'p "$0" "$1"\' x y', ['sh|-c|p "$0" "$1"|x|y', 'p|x|y']],
    ['echo "p a" | sh', ['echo|p a', 'sh', 'p|a']],
    ["sh <<'E'\np $X\nE", ['sh', 'p']],
    ['X=a; sh <<E\np $X\nE', ['sh', 'p|a']],
    ['env -u A B=c p d', ['env|-u|A|B=c|p|d', 'p|d']],
    ['echo a b | xargs -n1 p', ['echo|a|b', 'xargs|-n1|p', 'p|a|b']],
    ['find x -name y -exec p {} +', ['find|x|-name|y|-exec|p|{}|+', 'p|…']],
    ['timeout -k 5 10 nice -n 3 p a', ['timeout|-k|5|10|nice|-n|3|p|a', 'nice|-n|3|p|a', 'p|a']],
    ['read A B <<< "x y z"; p "$A" "$B"', ['p|x|y z']],
    ['p <(q a)', ['q|a', 'p|/dev/fd/63']],
    ['alias l="p a"; l b', ['p|a|b']],
    ['trap "p a" EXIT', ['p|a']],
    ['cd src; p "$PWD"; cd ..; p "$PWD"', ['p|/srv/projects/shop/src', 'p|/srv/projects/shop']],
    ['# p a', []],
  ])('%j: %j', (line, expected) => {
    expect(started(line)).toEqual(expected);
  });
});
