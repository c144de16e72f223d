//! What a step may touch: processes, files, network.
