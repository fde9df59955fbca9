#!/usr/bin/env node
import "./launch.js";
