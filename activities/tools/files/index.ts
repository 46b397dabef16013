import { localSource } from '../local-source.js';
import type { ToolSource } from '../port.js';
import { listFiles } from './list-files.js';
import { readFile } from './read-file.js';
import { searchFiles } from './search-files.js';
import { writeFile } from './write-file.js';

/** Files in the folder that an agent works in. @param namespaces where the folders of agents are */
export const fileTools = (namespaces: string): ToolSource =>
  localSource('files', [listFiles(namespaces), readFile(namespaces), searchFiles(namespaces), writeFile(namespaces)]);
