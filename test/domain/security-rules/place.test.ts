import { resolve, shownPath, zoneOf, type Zone } from '../../../src/domain/security-rules/place.js';
import { plain, unknown, concat } from '../../../src/domain/security-rules/shell/text.js';
import { workspace } from './plan.js';

const inside = { path: `${workspace}/src`, climbed: false };

describe('a path', () => {
  test.each<[string, string, Zone]>([
    ['a', `${workspace}/src/a`, 'inside'],
    ['./a//b/', `${workspace}/src/a/b`, 'inside'],
    ['..', workspace, 'workspace'],
    ['../..', '/srv/projects', 'outside'],
    ['../../shop/a', `${workspace}/a`, 'inside'],
    [workspace, workspace, 'workspace'],
    [`${workspace}2/a`, `${workspace}2/a`, 'outside'],
    ['/', '/', 'outside'],
    ['/../..', '/', 'outside'],
    ['~', '/~', 'outside'],
    ['~/a', '/~/a', 'outside'],
    ['~ann/a', '/~/a', 'outside'],
    ['$HOME/a', '/~/a', 'outside'],
    ['${HOME}', '/~', 'outside'],
    ['/home/ann/.ssh', '/~/.ssh', 'outside'],
    ['/root/.ssh', '/~/.ssh', 'outside'],
    ['$PWD/a', `${workspace}/src/a`, 'inside'],
    ['/tmp/a', '/tmp/a', 'scratch'],
    ['/tmp', '/tmp', 'outside'],
    ['/tmp/*', '/tmp/*', 'outside'],
    ['/tmp/../etc', '/etc', 'outside'],
    ['../../../../tmp/a', '/tmp/a', 'outside'],
    ['/dev/null', '/dev/null', 'stream'],
    ['/dev/fd/3', '/dev/fd/3', 'stream'],
    ['/dev/sda', '/dev/sda', 'outside'],
    ['a~b', `${workspace}/src/a~b`, 'inside'],
  ])('%j leads to %s, %s', (word, path, zone) => {
    const place = resolve(plain(word), inside, workspace);
    expect(place.path).toBe(path);
    expect(zoneOf(place, workspace)).toBe(zone);
  });

  test('whose beginning is not known leads nowhere that a rule could name', () => {
    expect(zoneOf(resolve(unknown('output'), inside, workspace), workspace)).toBe('unknown');
    expect(zoneOf(resolve(plain('a'), undefined, workspace), workspace)).toBe('unknown');
  });

  test('with an unknown name below a known folder is in that folder', () => {
    const below = (folder: string): Zone =>
      zoneOf(resolve(concat([plain(folder), unknown('output')]), inside, workspace), workspace);
    expect(below('/var/')).toBe('outside');
    expect(below('build/')).toBe('inside');
  });

  test('is shown with the home folder as people write it', () => {
    expect(shownPath('/~/a')).toBe('~/a');
  });
});
