/* SPDX-License-Identifier: BSD-3-Clause */

/* --- what the functions below need --- */

namespace detail {

/* A class with nothing but a handle is as good as the handle, in arrays too. */
inline MPI_Request* c_array(Request* r) { return reinterpret_cast<MPI_Request*>(r); }
inline MPI_Status* c_array(Status* s) { return reinterpret_cast<MPI_Status*>(s); }
inline MPI_Datatype* c_array(Datatype* t) { return reinterpret_cast<MPI_Datatype*>(t); }
inline const MPI_Datatype* c_array(const Datatype* t) { return reinterpret_cast<const MPI_Datatype*>(t); }
inline const MPI_Info* c_array(const Info* i) { return reinterpret_cast<const MPI_Info*>(i); }

/* An array of bool as the array of int that C wants; without memory a null pointer, which C refuses. */
struct Flags {
    Flags(const bool* flags, int count) : ints(count > 0 ? new int[count] : 0)
    {
        for (int i = 0; i < count; i++)
            ints[i] = flags[i];
    }
    ~Flags() { delete[] ints; }
    operator const int*() const { return ints; }
    int* ints;
private:
    Flags(const Flags&);
    Flags& operator=(const Flags&);
};

/* The other way: when the call is over. */
struct Flags_out {
    Flags_out(bool* to, int n) : flags(to), count(n), ints(n > 0 ? new int[n] : 0)
    {
        for (int i = 0; i < count; i++)
            ints[i] = flags[i];
    }
    ~Flags_out()
    {
        for (int i = 0; i < count; i++)
            flags[i] = ints[i] != 0;
        delete[] ints;
    }
    operator int*() const { return ints; }
    bool* flags;
    int count;
    int* ints;
private:
    Flags_out(const Flags_out&);
    Flags_out& operator=(const Flags_out&);
};

inline int dims_of(MPI_Comm comm)
{
    int count = 0;
    return MPI_Cartdim_get(comm, &count) == MPI_SUCCESS ? count : 0;
}

/* --- error handlers --- */

inline void comm_thrower(MPI_Comm*, int* code, ...) { Common<void>::thrown = *code; }
inline void win_thrower(MPI_Win*, int* code, ...) { Common<void>::thrown = *code; }
inline void file_thrower(MPI_File*, int* code, ...) { Common<void>::thrown = *code; }

inline MPI_Errhandler comm_handler(MPI_Errhandler errhandler)
{
    MPI_Errhandler& thrower = Common<void>::throwers[0];
    if (errhandler == throwing() && !thrower)
        check(MPI_Comm_create_errhandler(comm_thrower, &thrower));
    return errhandler == throwing() ? thrower : errhandler;
}

inline MPI_Errhandler win_handler(MPI_Errhandler errhandler)
{
    MPI_Errhandler& thrower = Common<void>::throwers[1];
    if (errhandler == throwing() && !thrower)
        check(MPI_Win_create_errhandler(win_thrower, &thrower));
    return errhandler == throwing() ? thrower : errhandler;
}

inline MPI_Errhandler file_handler(MPI_Errhandler errhandler)
{
    MPI_Errhandler& thrower = Common<void>::throwers[2];
    if (errhandler == throwing() && !thrower)
        check(MPI_File_create_errhandler(file_thrower, &thrower));
    return errhandler == throwing() ? thrower : errhandler;
}

/* What an object has, as C++ knows it. */
inline MPI_Errhandler handler_found(MPI_Errhandler errhandler)
{
    for (int i = 0; i < 3; i++)
        if (errhandler == Common<void>::throwers[i] && errhandler) {
            MPI_Errhandler_free(&errhandler);
            return throwing();
        }
    return errhandler;
}

inline void forget_throwers()
{
    for (int i = 0; i < 3; i++)
        if (Common<void>::throwers[i]) {
            MPI_Errhandler_free(&Common<void>::throwers[i]);
            Common<void>::throwers[i] = 0;
        }
}

/* Calls `function` with a communicator of its class. */
template <class Function>
inline void with_comm(MPI_Comm comm, const Function& function)
{
    int is_inter = 0, topology = MPI_UNDEFINED;
    if (comm != MPI_COMM_NULL) {
        MPI_Comm_test_inter(comm, &is_inter);
        if (!is_inter)
            MPI_Topo_test(comm, &topology);
    }
    if (is_inter) {
        Intercomm c(comm);
        function(c);
    } else if (topology == MPI_CART) {
        Cartcomm c(comm);
        function(c);
    } else if (topology == MPI_GRAPH) {
        Graphcomm c(comm);
        function(c);
    } else if (topology == MPI_DIST_GRAPH) {
        Distgraphcomm c(comm);
        function(c);
    } else {
        Intracomm c(comm);
        function(c);
    }
}

/* Functions of C++ that C gets without a state: each has a function of C, of SLOTS. */
enum { SLOTS = 64 };

template <class Kind, int N>
struct Slot {
    static typename Kind::Cxx* function;
    static typename Kind::C* find(typename Kind::Cxx* wanted)
    {
        if (function != wanted && !__sync_bool_compare_and_swap(&function, (typename Kind::Cxx*)0, wanted)
            && function != wanted)
            return Slot<Kind, N - 1>::find(wanted);
        return Kind::template Call<N>::call;
    }
};
template <class Kind, int N>
typename Kind::Cxx* Slot<Kind, N>::function;
template <class Kind>
struct Slot<Kind, 0> {
    static typename Kind::C* find(typename Kind::Cxx*)
    {
        fprintf(stderr, "mpi_cxx.h: more than %d different functions of a kind as operators or error handlers\n",
                (int)SLOTS);
        MPI_Abort(MPI_COMM_WORLD, 1);
        return 0;
    }
};

struct Comm_errors {
    typedef Comm::Errhandler_function Cxx;
    typedef MPI_Comm_errhandler_function C;
    struct Teller {
        Teller(Cxx* f, int* c) : function(f), code(c) {}
        void operator()(Comm& comm) const { function(comm, code); }
        Cxx* function;
        int* code;
    };
    template <int N>
    struct Call {
        static void call(MPI_Comm* comm, int* code, ...)
        {
            with_comm(*comm, Teller(Slot<Comm_errors, N>::function, code));
        }
    };
};
struct Win_errors {
    typedef Win::Errhandler_function Cxx;
    typedef MPI_Win_errhandler_function C;
    template <int N>
    struct Call {
        static void call(MPI_Win* win, int* code, ...)
        {
            Win w(*win);
            Slot<Win_errors, N>::function(w, code);
        }
    };
};
struct File_errors {
    typedef File::Errhandler_function Cxx;
    typedef MPI_File_errhandler_function C;
    template <int N>
    struct Call {
        static void call(MPI_File* file, int* code, ...)
        {
            File f(*file);
            Slot<File_errors, N>::function(f, code);
        }
    };
};
struct Operators {
    typedef User_function Cxx;
    typedef MPI_User_function C;
    template <int N>
    struct Call {
        static void call(void* in, void* inout, int* len, MPI_Datatype* datatype)
        {
            Slot<Operators, N>::function(in, inout, *len, Datatype(*datatype));
        }
    };
};

inline MPI_Comm_errhandler_function* comm_function(Comm::Errhandler_function* f)
{
    return Slot<Comm_errors, SLOTS>::find(f);
}
inline MPI_Win_errhandler_function* win_function(Win::Errhandler_function* f)
{
    return Slot<Win_errors, SLOTS>::find(f);
}
inline MPI_File_errhandler_function* file_function(File::Errhandler_function* f)
{
    return Slot<File_errors, SLOTS>::find(f);
}
inline MPI_User_function* op_function(User_function* f)
{
    return Slot<Operators, SLOTS>::find(f);
}

/* --- attributes: what a key was made with is kept, since objects may outlive it --- */

template <class Copy, class Delete>
struct Keyval : Kept {
    Keyval(Copy* c, Delete* d, void* e) : copy(c), remove(d), extra(e) {}
    Copy* copy;
    Delete* remove;
    void* extra;
};
typedef Keyval<Comm::Copy_attr_function, Comm::Delete_attr_function> Comm_keyval;
typedef Keyval<Datatype::Copy_attr_function, Datatype::Delete_attr_function> Type_keyval;
typedef Keyval<Win::Copy_attr_function, Win::Delete_attr_function> Win_keyval;

struct Comm_copier {
    Comm_copier(Comm_keyval* k, int key, void* i, void* o, bool* f, int* r)
        : keyval(k), number(key), in(i), out(o), flag(f), rc(r) {}
    void operator()(Comm& comm) const { *rc = keyval->copy(comm, number, keyval->extra, in, out, *flag); }
    Comm_keyval* keyval;
    int number;
    void *in, *out;
    bool* flag;
    int* rc;
};
struct Comm_deleter {
    Comm_deleter(Comm_keyval* k, int key, void* v, int* r) : keyval(k), number(key), value(v), rc(r) {}
    void operator()(Comm& comm) const { *rc = keyval->remove(comm, number, value, keyval->extra); }
    Comm_keyval* keyval;
    int number;
    void* value;
    int* rc;
};

inline int comm_copy(MPI_Comm comm, int key, void* extra, void* in, void* out, int* flag)
{
    bool is_copied = false;
    int rc = MPI_SUCCESS;
    with_comm(comm, Comm_copier(static_cast<Comm_keyval*>(extra), key, in, out, &is_copied, &rc));
    *flag = is_copied;
    return rc;
}
inline int comm_delete(MPI_Comm comm, int key, void* value, void* extra)
{
    int rc = MPI_SUCCESS;
    with_comm(comm, Comm_deleter(static_cast<Comm_keyval*>(extra), key, value, &rc));
    return rc;
}
inline int type_copy(MPI_Datatype type, int key, void* extra, void* in, void* out, int* flag)
{
    const Type_keyval* keyval = static_cast<Type_keyval*>(extra);
    const Datatype datatype(type);
    bool is_copied = false;
    const int rc = keyval->copy(datatype, key, keyval->extra, in, out, is_copied);
    *flag = is_copied;
    return rc;
}
inline int type_delete(MPI_Datatype type, int key, void* value, void* extra)
{
    const Type_keyval* keyval = static_cast<Type_keyval*>(extra);
    Datatype datatype(type);
    return keyval->remove(datatype, key, value, keyval->extra);
}
inline int win_copy(MPI_Win old, int key, void* extra, void* in, void* out, int* flag)
{
    const Win_keyval* keyval = static_cast<Win_keyval*>(extra);
    const Win win(old);
    bool is_copied = false;
    const int rc = keyval->copy(win, key, keyval->extra, in, out, is_copied);
    *flag = is_copied;
    return rc;
}
inline int win_delete(MPI_Win old, int key, void* value, void* extra)
{
    const Win_keyval* keyval = static_cast<Win_keyval*>(extra);
    Win win(old);
    return keyval->remove(win, key, value, keyval->extra);
}

/* --- generalized requests, data representations --- */

struct Grequest_state {
    Grequest_state(Grequest::Query_function* q, Grequest::Free_function* f, Grequest::Cancel_function* c, void* e)
        : query(q), free(f), cancel(c), extra(e) {}
    Grequest::Query_function* query;
    Grequest::Free_function* free;
    Grequest::Cancel_function* cancel;
    void* extra;
};
inline int grequest_query(void* extra, MPI_Status* status)
{
    const Grequest_state* state = static_cast<Grequest_state*>(extra);
    Status s(*status);
    const int rc = state->query(state->extra, s);
    *status = s;
    return rc;
}
inline int grequest_free(void* extra)
{
    Grequest_state* state = static_cast<Grequest_state*>(extra);
    const int rc = state->free(state->extra);
    delete state;
    return rc;
}
inline int grequest_cancel(void* extra, int complete)
{
    const Grequest_state* state = static_cast<Grequest_state*>(extra);
    return state->cancel(state->extra, complete != 0);
}

struct Datarep : Kept {
    Datarep(Datarep_conversion_function* r, Datarep_conversion_function* w, Datarep_extent_function* e, void* x)
        : read(r), write(w), extent(e), extra(x) {}
    Datarep_conversion_function *read, *write;
    Datarep_extent_function* extent;
    void* extra;
};
inline int datarep_read(void* user, MPI_Datatype type, int count, void* file, MPI_Offset position, void* extra)
{
    const Datarep* rep = static_cast<Datarep*>(extra);
    Datatype datatype(type);
    rep->read(user, datatype, count, file, position, rep->extra);
    return MPI_SUCCESS;
}
inline int datarep_write(void* user, MPI_Datatype type, int count, void* file, MPI_Offset position, void* extra)
{
    const Datarep* rep = static_cast<Datarep*>(extra);
    Datatype datatype(type);
    rep->write(user, datatype, count, file, position, rep->extra);
    return MPI_SUCCESS;
}
inline int datarep_extent(MPI_Datatype type, MPI_Aint* extent, void* extra)
{
    const Datarep* rep = static_cast<Datarep*>(extra);
    rep->extent(Datatype(type), *extent, rep->extra);
    return MPI_SUCCESS;
}

} // namespace detail
