import { readCode } from '../../../src/domain/security-rules/code/index.js';
import type { Language } from '../../../src/domain/security-rules/shell/invocation.js';
import { plain, shown } from '../../../src/domain/security-rules/shell/text.js';

/** What a program text does, in short: effects and the commands it starts. */
const done = (language: Language, source: string): string[] => {
  const { effects, inner } = readCode(plain(source), language);
  return [
    ...effects.map((effect) => {
      if ('path' in effect) return `${effect.does} ${shown(effect.path)}`;
      if (effect.does === 'connect') return `${effect.how} ${effect.host ? shown(effect.host) : '?'}`;
      return `${effect.does} ${shown(effect.text)}`;
    }),
    ...inner.map((each) =>
      'argv' in each ? `start ${each.argv.map((word) => shown(word)).join('|')}` : `shell ${shown(each.script)}`,
    ),
  ];
};

describe('a program text', () => {
  test.each<[Language, string, string[]]>([
    ['python', "import os\nos.remove('a' + '/b')", ['delete a/b']],
    ['python', "d = 'x'\nshutil.rmtree(os.path.join(d, 'y'))", ['delete x/y']],
    ['python', "shutil.rmtree(os.path.join('x', '/etc'))", ['delete /etc']],
    ['python', "open('a')", ['read a']],
    ['python', "open('a', mode := 'w')", ['write a']],
    ['python', "with open('a', 'ab') as f: f.write('x')", ['write a']],
    ['python', "Path('a').write_text(Path('b').read_text())", ['read b', 'write a']],
    ['python', "subprocess.run(['a', 'b c'])", ['start a|b c']],
    ['python', "os.system(f'a {name} b')", ['shell a … b']],
    ['python', "os.system('a %s' % 'b')", ['shell a b']],
    ['python', "x.replace('/a', '/b'); [].remove('/c')", []],
    ['python', "# os.remove('a')\n'''os.remove('b')'''", []],
    ['python', 'exec(\'os.remove("a")\')', ['delete a']],
    ['python', "exec(base64.b64decode('b3MucmVtb3ZlKCdhJyk='))", ['delete a', "evaluate os.remove('a')"]],
    ['python', "requests.get('https://x.example/a')", ['fetch https://x.example/a']],
    ['python', "requests.post('https://x.example', data=open('a').read())", ['read a', 'send https://x.example']],
    ['python', "cur.execute('SELECT a FROM t WHERE b = %s', (b,))", ['sql SELECT a FROM t WHERE b = %s']],
    ['python', 'print("DROP TABLE is a statement")', []],
    ['javascript', "require('fs').rmSync('a')", ['delete a']],
    ['javascript', "const { rmSync: gone } = require('fs'); gone('a')", ['delete a']],
    ['javascript', "fs['un' + 'linkSync'](`a/${'b'}`)", ['delete a/b']],
    ['javascript', "fs.readFileSync('a'); fs.writeFileSync('b', 'c')", ['read a', 'write b']],
    ['javascript', "// fs.rmSync('a')\n/* fs.rmSync('b') */ const s = \"fs.rmSync('c')\"", []],
    ['javascript', "/fs.rmSync('a')/.test(x)", []],
    ['javascript', "cp.spawn('a', ['b', 'c'])", ['start a|b|c']],
    ['javascript', "cp.execSync('a' + x)", ['shell a…']],
    ['javascript', "app.get('/a', f); map.get('b')", []],
    ['javascript', 'eval(\'fs.rmSync("a")\')', ['delete a']],
    ['perl', 'unlink "a"; system("b", "c"); `d`', ['delete a', 'start b|c', 'start c', 'shell d']],
    ['perl', 'open(F, "<", "a"); open(G, ">b")', ['read a', 'write b']],
    ['ruby', "File.delete('a'); system 'b'; %x(c)", ['delete a', 'shell b', 'shell c']],
    ['php', "unlink('a'); file_put_contents('b', 'c');", ['delete a', 'write b']],
    ['lua', "os.remove('a') os.execute('b')", ['delete a', 'shell b']],
    ['awk', '{ print $1 }', []],
    ['awk', 'BEGIN { system("a" " b"); print "x" > "c"; "d" | getline }', ['write c', 'shell a b', 'shell d']],
  ])('in %s, %j does %j', (language, source, expected) => {
    expect(done(language, source)).toEqual(expected);
  });
});
